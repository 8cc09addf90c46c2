import { Link } from "@tanstack/react-router";
import { ChevronRight, Plug, Wrench } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/shared/api/client";
import { formatDuration, formatServer } from "@/shared/format/format";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { Spinner } from "@/shared/ui/Spinner";
import { StateDot } from "@/shared/ui/StateDot";
import type { Run } from "./useFirstRun";

type Call = Schemas["Call"];

/** What came of the question: the tool that was called, and the answer. */
export function FirstAnswer({ run, prompt }: { run: Run; prompt: string }) {
  const [asked] = useState(prompt);
  const calls = (run.tool_calls ?? []) as unknown as Call[];
  const ended = run.ended_at != null;
  return (
    <section
      aria-label="The answer"
      aria-busy={!ended}
      className="flex animate-rise flex-col gap-3 rounded-lg bg-sunken p-3.5"
    >
      <p className="self-end rounded-lg bg-accent-soft px-3 py-1.5 text-sm [overflow-wrap:anywhere]">
        {asked}
      </p>
      {calls.map((call) => (
        <CallLine key={call.id} call={call} />
      ))}
      {run.status === "waiting" && (
        <p className="text-sm text-warn-ink">
          It waits for you.{" "}
          <Link to="/approvals" className="font-medium underline">
            Answer
          </Link>
        </p>
      )}
      {run.text && (
        <section className="max-h-80 overflow-y-auto text-sm" tabIndex={0} aria-label="Text of the answer">
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{run.text}</p>
        </section>
      )}
      {run.error && <p className="text-sm text-bad-ink [overflow-wrap:anywhere]">{run.error}</p>}
      {ended ? (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
          <StateDot state={run.status} />
          <span>Demo model</span>
          <span>{took(run)}</span>
          <span>
            {run.iterations} {run.iterations === 1 ? "round" : "rounds"}
          </span>
        </p>
      ) : (
        <Spinner label="It works" />
      )}
    </section>
  );
}

const took = (run: Run): string =>
  run.started_at && run.ended_at
    ? formatDuration(new Date(run.ended_at).getTime() - new Date(run.started_at).getTime())
    : "";

function CallLine({ call }: { call: Call }) {
  const isOwn = call.server === "native";
  const Icon = isOwn ? Wrench : Plug;
  return (
    <details className="group rounded-md border border-line bg-raised">
      <summary className="flex cursor-pointer list-none flex-wrap items-center gap-x-2.5 gap-y-1 rounded-md px-3 py-2 text-sm">
        <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <code className="font-medium">{call.tool}</code>
        <span className="text-xs text-ink-faint">{formatServer(call.server)}</span>
        <span className="ml-auto flex items-center gap-3">
          <StateDot state={call.status} />
          <span className="text-xs text-ink-faint tabular-nums">{formatDuration(call.duration_ms)}</span>
          <ChevronRight
            aria-hidden
            className="size-4 text-ink-faint transition-transform duration-(--quick) group-open:rotate-90"
          />
        </span>
      </summary>
      <div className="flex flex-col gap-3 border-t border-line p-3 text-xs">
        <div>
          <p className="mb-1 font-medium text-ink-soft">Arguments</p>
          <CodeBlock code={JSON.stringify(call.arguments, null, 2)} language="json" />
        </div>
        <div>
          <p className="mb-1 font-medium text-ink-soft">Result</p>
          <CodeBlock code={call.result ?? call.error ?? ""} fold={12} />
        </div>
      </div>
    </details>
  );
}
