import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Channel } from "@/features/chat/queries";
import { formatCost, formatDuration } from "@/shared/format/format";
import { Card } from "@/shared/ui/Card";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { JsonView } from "@/shared/ui/JsonView";
import { Times } from "./PreviewCard";
import type { Task } from "./queries";
import { DOES } from "./words";

const OVERLAPS = { skip: "skipped", queue: "wait their turn", parallel: "run beside it" };

/** What it does, and when it comes next. */
export function TaskFacts({ task, channel }: { task: Task; channel: Channel | undefined }) {
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Card title={DOES[task.does].word}>
        <Work task={task} />
        <dl className="mt-4 grid gap-x-8 gap-y-2 text-sm sm:grid-cols-2">
          <Fact name="Channel">
            <Link
              to="/c/$channelId"
              params={{ channelId: task.channel_id }}
              className="underline-offset-2 hover:underline"
            >
              {channel?.name ?? task.channel_id}
            </Link>
          </Fact>
          {task.does === "prompt" && <Fact name="Model">{task.model ?? "that of the channel"}</Fact>}
          {task.does === "prompt" && <Fact name="Conversation">{threadWords(task)}</Fact>}
          {task.budget != null && <Fact name="Budget per run">{formatCost(task.budget)}</Fact>}
          <Fact name="Longest run">{formatDuration(task.timeout_s * 1000)}</Fact>
          <Fact name="Runs that overlap">{OVERLAPS[task.overlap]}</Fact>
          {task.type !== "manual" && <Fact name="Missed times">{missedWords(task)}</Fact>}
          <Fact name="After a failure">{failureWords(task)}</Fact>
          {task.allow.length > 0 && (
            <Fact name="Tools allowed">
              <span className="font-mono text-xs [overflow-wrap:anywhere]">{task.allow.join(", ")}</span>
            </Fact>
          )}
        </dl>
      </Card>
      <Card title="Next times" description={task.type === "manual" ? undefined : task.timezone}>
        {task.next_times.length > 0 ? (
          <Times times={task.next_times} />
        ) : (
          <p className="text-sm text-ink-soft">{nothingComes(task)}</p>
        )}
      </Card>
    </div>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex min-w-0 flex-col">
    <dt className="text-xs text-ink-faint">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
);

function Work({ task }: { task: Task }) {
  if (task.does === "prompt") return <CodeBlock code={task.prompt ?? ""} wrap fold={12} />;
  if (task.does === "script") return <CodeBlock code={task.script ?? ""} language="sh" fold={12} />;
  return (
    <div className="flex flex-col gap-2">
      <Link
        to="/workflows/edit"
        search={{ name: task.workflow_name ?? "", channel: task.channel_id }}
        className="w-fit font-medium underline-offset-2 hover:underline"
      >
        {task.workflow_name}
      </Link>
      {Object.keys(task.workflow_inputs).length > 0 && (
        <JsonView value={task.workflow_inputs} label="Inputs of the workflow" />
      )}
    </div>
  );
}

function threadWords(task: Task): string {
  if (task.conversation === "same") return "always the same thread";
  const parts = [task.worktree ? "a new thread and worktree each time" : "a new thread each time"];
  if (task.auto_delete_sec > 0) {
    const quiet = task.keep_reports ? " if there was nothing to report" : "";
    parts.push(`removed after ${formatDuration(task.auto_delete_sec * 1000)}${quiet}`);
  }
  return parts.join(", ");
}

function missedWords(task: Task): string {
  if (task.missed === "skip") return "left alone";
  return `one run, within ${formatDuration(task.missed_window_s * 1000)}`;
}

function failureWords(task: Task): string {
  const tries =
    task.retries === 0 ? "no further try" : `${task.retries} more ${task.retries === 1 ? "try" : "tries"}`;
  return task.max_failures > 0 ? `${tries}; off after ${task.max_failures} in a row` : tries;
}

function nothingComes(task: Task): string {
  if (task.type === "manual") return "It runs when somebody starts it.";
  if (!task.enabled) return "It is paused. Resume it to see when it comes next.";
  return "Its time has passed. Edit it to give it another one.";
}
