import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowUpRight, RotateCcw, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/shared/ui/Button";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { IconButton } from "@/shared/ui/IconButton";
import { JsonView } from "@/shared/ui/JsonView";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Segmented } from "@/shared/ui/Segmented";
import { Select } from "@/shared/ui/Select";
import { toast } from "@/shared/ui/Toast";
import { VisibleText } from "@/shared/ui/VisibleText";
import { AnswerBox } from "./AnswerBox";
import { Clock } from "./Clock";
import { Inside } from "./Inside";
import { type Attempt, type Run, type RunNode, retryRun } from "./queries";
import { NodeState, typeIcon } from "./states";

interface NodeDetailProps {
  run: Run;
  node: RunNode;
  nodes: readonly RunNode[];
  onPick: (path: string | null) => void;
}

/** Everything about one node of a run: what it got, what it gave, what it wrote, how often it was tried. */
export function NodeDetail({ run, node, nodes, onPick }: NodeDetailProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const attempt = node.history.find((one) => one.attempt === chosen);
  const shown: Attempt | RunNode = attempt ?? node;
  const Icon = typeIcon(node.type);
  return (
    <div className="flex flex-col gap-4 p-4">
      <header className="flex items-start gap-3">
        <span
          aria-hidden
          className="grid size-9 shrink-0 place-items-center rounded-md bg-sunken text-ink-soft"
        >
          <Icon className="size-4.5" />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="text-md font-semibold [overflow-wrap:anywhere]">{node.node_id}</h2>
          <Crumbs node={node} onPick={onPick} />
        </div>
        <IconButton size="sm" label="Close the details" icon={<X />} onClick={() => onPick(null)} />
      </header>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-soft">
        <NodeState status={shown.status} />
        {shown.started_at && (
          <span>
            <RelativeTime at={shown.started_at} />
          </span>
        )}
        {shown.started_at && <Clock from={shown.started_at} to={shown.ended_at} />}
        {shown.decision && <span>{shown.decision === "approve" ? "Approved" : "Rejected"}</span>}
      </p>
      {node.status === "waiting" && <AnswerBox runId={run.id} node={node} />}
      <Attempts node={node} chosen={chosen} onChoose={setChosen} />
      {shown.error && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
          <VisibleText text={shown.error} />
        </p>
      )}
      {shown.reason && (
        <p className="text-sm text-ink-soft">
          <VisibleText text={shown.reason} />
        </p>
      )}
      <Ways run={run} node={node} detail={shown.detail ?? {}} />
      <Inside node={node} nodes={nodes} onPick={onPick} />
      {!(node.status === "waiting" && node.type === "approval") && (
        <Contents key={`${node.id} ${chosen}`} shown={shown} />
      )}
    </div>
  );
}

/** Where it stands: the nodes around it lead there. */
function Crumbs({ node, onPick }: { node: RunNode; onPick: (path: string) => void }) {
  if (node.parent == null) return <p className="text-xs text-ink-faint">{node.type}</p>;
  const place = node.iteration == null ? "" : node.iteration;
  return (
    <p className="text-xs text-ink-faint">
      {node.type} in{" "}
      <button
        type="button"
        onClick={() => onPick(node.parent as string)}
        className="font-medium text-ink-soft underline-offset-2 hover:text-ink hover:underline"
      >
        {node.parent}
      </button>
      {place !== "" && ` (${place})`}
    </p>
  );
}

interface AttemptsProps {
  node: RunNode;
  chosen: number | null;
  onChoose: (attempt: number | null) => void;
}

function Attempts({ node, chosen, onChoose }: AttemptsProps) {
  if (node.history.length < 2) return null;
  const last = node.history.at(-1)?.attempt ?? node.attempt;
  return (
    <div className="w-full">
      <Select
        label="Attempt"
        value={String(chosen ?? last)}
        options={node.history.map((one) => ({
          value: String(one.attempt),
          label: `Attempt ${one.attempt} of ${node.history.length}`,
          hint: one.superseded ? "Sent back; it counts no more" : (one.error ?? one.reason ?? one.status),
        }))}
        onChange={(value) => onChoose(Number(value) === last ? null : Number(value))}
      />
    </div>
  );
}

function Ways({ run, node, detail }: { run: Run; node: RunNode; detail: Record<string, unknown> }) {
  const retry = useMutation({
    mutationFn: () => retryRun(run.id, { from_node: node.id, from_failed: true }),
    onError: toast.error,
  });
  const ended = run.status !== "running" && run.status !== "paused";
  const text = (name: string): string | null =>
    typeof detail[name] === "string" ? (detail[name] as string) : null;
  const thread = text("thread_id");
  const call = text("call_id");
  const look = "inline-flex items-center gap-1 text-sm text-accent-ink underline-offset-2 hover:underline";
  if (!ended && !thread && !call) return null;
  return (
    <div className="flex flex-wrap items-center gap-3">
      {ended && (
        <Button size="sm" icon={<RotateCcw />} busy={retry.isPending} onClick={() => retry.mutate()}>
          Retry from here
        </Button>
      )}
      {thread && (
        <Link to="/c/$channelId" params={{ channelId: thread }} className={look}>
          Conversation <ArrowUpRight aria-hidden className="size-3.5" />
        </Link>
      )}
      {call && (
        <Link to="/log/$callId" params={{ callId: call }} className={look}>
          Call in the log <ArrowUpRight aria-hidden className="size-3.5" />
        </Link>
      )}
    </div>
  );
}

type Part = "output" | "inputs" | "log";

function Contents({ shown }: { shown: Attempt | RunNode }) {
  const parts: { value: Part; label: string; content: ReactNode }[] = [];
  if (shown.output != null && shown.output !== "")
    parts.push({ value: "output", label: "Output", content: <Value value={shown.output} label="Output" /> });
  if (shown.log)
    parts.push({ value: "log", label: "Log", content: <CodeBlock code={shown.log} wrap fold={60} /> });
  if (shown.inputs != null)
    parts.push({ value: "inputs", label: "Inputs", content: <Given value={shown.inputs} /> });
  const [part, setPart] = useState<Part | null>(shown.status === "failed" && shown.log ? "log" : null);
  const current = parts.find((one) => one.value === part) ?? parts[0];
  if (!current) return null;
  return (
    <section aria-label="Contents" className="flex min-w-0 flex-col gap-3">
      {parts.length > 1 ? (
        <Segmented label="Contents" value={current.value} options={parts} onChange={setPart} />
      ) : (
        <h3 className="text-xs font-semibold text-ink-faint">{current.label}</h3>
      )}
      {current.content}
      <Facts detail={shown.detail ?? {}} />
    </section>
  );
}

const Value = ({ value, label }: { value: unknown; label: string }) =>
  typeof value === "string" ? (
    <CodeBlock code={value} wrap fold={60} />
  ) : (
    <JsonView value={value} label={label} />
  );

/** What it got; texts of several lines as they are. */
function Given({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return <Value value={value} label="Inputs" />;
  return (
    <dl className="flex flex-col gap-2.5">
      {Object.entries(value).map(([name, one]) => (
        <div key={name} className="flex min-w-0 flex-col gap-1">
          <dt className="font-mono text-xs text-ink-faint">{name}</dt>
          <dd className="min-w-0">
            <Value value={one} label={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Facts({ detail }: { detail: Record<string, unknown> }) {
  const facts = [
    typeof detail.exit_code === "number" && `exit code ${detail.exit_code}`,
    typeof detail.output_file === "string" && `the whole output is in ${detail.output_file}`,
  ].filter(Boolean);
  if (facts.length === 0) return null;
  return <p className="text-xs text-ink-faint [overflow-wrap:anywhere]">{facts.join(" · ")}</p>;
}
