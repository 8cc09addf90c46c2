import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { SkipForward } from "lucide-react";
import { useState } from "react";
import { SchemaForm } from "@/features/servers/form/SchemaForm";
import { useSettled } from "@/features/tasks/usePreview";
import { Badge } from "@/shared/ui/Badge";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type DryNode, dryRunOf, inWaves } from "./dryRun";
import { inputsSchema, startInputs } from "./inputs";
import { verdictOf } from "./queries";
import { typeIcon } from "./states";

interface DryRunProps {
  text: string;
  channel: string | null;
  inputs: Record<string, unknown>;
  ok: boolean;
}

/** What a run would do with these inputs: the order, what every node gets, what is skipped. Nothing is run. */
export function DryRun({ text, channel, inputs, ok }: DryRunProps) {
  const schema = inputsSchema(inputs);
  const [given, setGiven] = useState(() => startInputs(inputs));
  const wanted = useSettled({ text, given }, 300);
  const verdict = useQuery({
    ...verdictOf(wanted.text, channel, wanted.given),
    enabled: ok,
    placeholderData: keepPreviousData,
  });
  const { nodes, problems } = dryRunOf(verdict.data?.dry_run);
  return (
    <section
      aria-label="Dry run"
      tabIndex={0}
      className="flex h-[70dvh] flex-col gap-5 overflow-y-auto rounded-lg border border-line bg-raised p-4 shadow-sm -outline-offset-2 lg:h-full"
    >
      {Object.keys(inputs).length > 0 && (
        <SchemaForm
          schema={schema}
          value={given}
          onChange={(value) => setGiven((value ?? {}) as typeof given)}
        />
      )}
      {verdict.isError && <ErrorState error={verdict.error} />}
      {problems.map((problem) => (
        <p key={problem} className="rounded-md bg-warn-soft px-3 py-2 text-sm">
          <VisibleText text={problem} />
        </p>
      ))}
      {!ok && nodes.length === 0 ? (
        <EmptyState title="Nothing to show yet">Correct the mistakes first.</EmptyState>
      ) : (
        <ol className="flex flex-col gap-4">
          {inWaves(nodes).map((wave) => (
            <li key={wave.number} className="flex flex-col gap-2">
              <h3 className="text-xs font-semibold text-ink-faint">
                Step {wave.number}
                {wave.nodes.length > 1 && `: ${wave.nodes.length} side by side`}
              </h3>
              <ul className="flex flex-col gap-2">
                {wave.nodes.map((node) => (
                  <Step key={node.id} node={node} />
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Step({ node }: { node: DryNode }) {
  const Icon = node.skipped ? SkipForward : typeIcon(node.type);
  return (
    <li className={classes("rounded-md border border-line px-3 py-2", node.skipped && "border-dashed")}>
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <Icon aria-hidden className="size-4 text-ink-faint" />
        <span className={classes("font-semibold", node.skipped && "text-ink-soft line-through")}>
          {node.id}
        </span>
        <span className="text-xs text-ink-faint">{node.type}</span>
        {node.skipped && <Badge>Skipped</Badge>}
      </p>
      {node.reason && <p className="mt-1 text-xs text-ink-soft">{node.reason}</p>}
      {node.error && <p className="mt-1 text-xs text-bad-ink">{node.error}</p>}
      {node.inputs.map(([name, value]) => (
        <p key={name} className="mt-1 flex gap-2 text-xs">
          <span className="shrink-0 text-ink-faint">{name}</span>
          <span className="min-w-0 font-mono whitespace-pre-wrap [overflow-wrap:anywhere]">
            <VisibleText text={value} />
            {node.unknown.includes(name) && (
              <span className="font-sans text-ink-faint"> (known in the run)</span>
            )}
          </span>
        </p>
      ))}
      {node.body.length > 0 && (
        <ul className="mt-2 flex flex-col gap-2 border-l-2 border-line pl-3">
          {node.body.map((one) => (
            <Step key={one.id} node={one} />
          ))}
        </ul>
      )}
    </li>
  );
}
