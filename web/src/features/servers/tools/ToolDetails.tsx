import { useQuery } from "@tanstack/react-query";
import { Check, CircleAlert, CircleCheck, Play } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { formatNumber } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { CopyButton } from "@/shared/ui/CopyButton";
import { Diff } from "@/shared/ui/Diff";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { JsonView } from "@/shared/ui/JsonView";
import { Select } from "@/shared/ui/Select";
import { Skeleton } from "@/shared/ui/Skeleton";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Tool, whyTool } from "../queries";
import { ParameterTable } from "./ParameterTable";
import { type Policy, useAcceptDefinition, useToolPreference } from "./preferences";

const TryTool = lazy(() => import("./TryTool"));

/** Everything about a tool. */
export function ToolDetails({ tool }: { tool: Tool }) {
  const [trying, setTrying] = useState(false);
  return (
    <div className="flex flex-col gap-5 px-4 py-4 sm:pl-10.5">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1">
          <p className="flex items-center gap-1 text-xs text-ink-soft">
            <code className="[overflow-wrap:anywhere]">
              <VisibleText text={tool.fullName} />
            </code>
            <CopyButton text={tool.fullName} label="Copy the full name" />
          </p>
          <p className="mt-1 max-w-3xl whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
            {tool.description ? (
              <VisibleText text={tool.description} />
            ) : (
              <span className="text-ink-faint">It has no description.</span>
            )}
          </p>
        </div>
        <Button icon={<Play />} onClick={() => setTrying(true)}>
          Try it
        </Button>
      </div>
      {tool.changed && <Changed tool={tool} />}
      <ParameterTable schema={tool.inputSchema} label={`Parameters of ${tool.name}`} />
      <div className="grid gap-5 lg:grid-cols-[1fr_18rem]">
        <WhyPanel tool={tool} />
        <PolicyChoice tool={tool} />
      </div>
      <Schemas tool={tool} />
      {trying && (
        <Suspense fallback={null}>
          <TryTool tool={tool} onClose={() => setTrying(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Changed({ tool }: { tool: Tool }) {
  const accept = useAcceptDefinition();
  return (
    <section aria-label="What changed" className="flex flex-col gap-2.5 rounded-lg bg-warn-soft p-3.5">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-sm">
          <span className="font-medium">Its definition is not the one that was approved.</span> Until you
          accept it, every call asks.
        </p>
        <Button size="sm" icon={<Check />} busy={accept.isPending} onClick={() => accept.mutate(tool)}>
          Accept the new definition
        </Button>
      </div>
      {tool.diff && <Diff text={tool.diff} />}
    </section>
  );
}

const EFFECTS = { allow: "runs without asking", ask: "asks you first", deny: "is denied" };

function WhyPanel({ tool }: { tool: Tool }) {
  const why = useQuery(whyTool(tool.fullName));
  if (why.isPending) return <Skeleton className="h-16 w-full" />;
  if (why.isError) return <ErrorState error={why.error} onRetry={() => void why.refetch()} />;
  const { offered, reason, decision, model, repair } = why.data;
  const Icon = offered ? CircleCheck : CircleAlert;
  return (
    <section aria-label={offered ? "Why it is offered" : "Why it is not offered"} className="text-sm">
      <h3 className="flex items-center gap-2 font-medium">
        <Icon aria-hidden className={`size-4 ${offered ? "text-good" : "text-warn"}`} />
        {offered ? "Offered to models" : "Not offered to models"}
      </h3>
      <ul className="mt-1 ml-6 flex flex-col gap-0.5 text-ink-soft [overflow-wrap:anywhere]">
        <li className="first-letter:uppercase">{reason}.</li>
        {decision && (
          <li>
            A call {EFFECTS[decision.effect]}: {decision.reason}.
          </li>
        )}
        {model && (
          <li>
            {model.sent ? `${model.name} gets it` : `${model.name} cannot take it`}
            {model.repairs.length > 0 ? `, mended: ${model.repairs.join("; ")}` : ""}.
          </li>
        )}
        {repair && <li>It had to be mended: {repair}.</li>}
        <li>Its definition takes about {formatNumber(tool.tokens)} tokens in every request.</li>
      </ul>
    </section>
  );
}

function PolicyChoice({ tool }: { tool: Tool }) {
  const preference = useToolPreference();
  return (
    <Field
      label="When a model calls it"
      hint="Rules and the server's trust hold where nothing is chosen here."
    >
      {(wiring) => (
        <Select<Policy>
          {...wiring}
          value={tool.policy ?? "default"}
          onChange={(policy) => preference.mutate({ tools: [tool], policy })}
          options={[
            { value: "default", label: tool.serverId == null ? "As usual" : "As its server's trust says" },
            { value: "allow", label: "Always allow" },
            { value: "ask", label: "Ask every time" },
            { value: "deny", label: "Deny" },
          ]}
        />
      )}
    </Field>
  );
}

function Schemas({ tool }: { tool: Tool }) {
  return (
    <details className="text-sm">
      <summary className="w-fit rounded-xs text-xs text-ink-soft hover:text-ink">
        Schemas as they came
      </summary>
      <div className="mt-2 grid gap-3 lg:grid-cols-2">
        <JsonView value={tool.inputSchema} depth={2} label="Input schema" />
        {tool.outputSchema && <JsonView value={tool.outputSchema} depth={2} label="Output schema" />}
      </div>
    </details>
  );
}
