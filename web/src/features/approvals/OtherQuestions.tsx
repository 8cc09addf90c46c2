import { Link } from "@tanstack/react-router";
import { formatCost } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { JsonView } from "@/shared/ui/JsonView";
import type { Question } from "./question";
import { SpelledText } from "./SpelledText";
import { ExactText } from "./ToolQuestion";

type Of<K extends Question["kind"]> = Extract<Question, { kind: K }>;

/** Servers that a project's own file wants to start on this machine. */
export const ProjectQuestion = ({ question }: { question: Of<"project"> }) => (
  <div className="flex flex-col gap-3">
    <p className="font-mono text-xs text-ink-soft [overflow-wrap:anywhere]">
      <SpelledText text={question.directory} />
    </p>
    <ul className="flex flex-col gap-2">
      {question.servers.map((server) => (
        <li key={server.name} className="flex min-w-0 flex-col gap-1.5">
          <div className="flex items-center gap-2 text-sm font-medium">
            <SpelledText text={server.name} />
            <Badge mood={server.change === "new" ? "neutral" : "warn"}>{server.change}</Badge>
          </div>
          <ExactText text={server.runs} label={`What ${server.name} runs`} />
          <details>
            <summary className="w-fit cursor-pointer rounded-xs text-xs text-ink-faint hover:text-ink">
              All of its configuration
            </summary>
            <JsonView value={server.rest} label={`Configuration of ${server.name}`} className="mt-1.5" />
          </details>
        </li>
      ))}
    </ul>
  </div>
);

/** What a server wants a model to be asked. */
export const SamplingQuestion = ({ question }: { question: Of<"sampling"> }) => (
  <div className="flex flex-col gap-2.5">
    {question.system && <Said who="System prompt" text={question.system} />}
    {question.messages.map((message, place) => (
      <Said
        key={place}
        who={message.role}
        text={[message.text, ...message.other.map((one) => `[${one}]`)].join("\n")}
      />
    ))}
    {Object.keys(question.rest).length > 0 && (
      <details>
        <summary className="w-fit cursor-pointer rounded-xs text-xs text-ink-faint hover:text-ink">
          All of the request
        </summary>
        <JsonView value={question.rest} label="Request" className="mt-1.5" />
      </details>
    )}
    <p className="text-xs text-ink-faint">
      The default model answers; the server gets the answer, and the tokens are yours.
    </p>
  </div>
);

const Said = ({ who, text }: { who: string; text: string }) => (
  <div className="flex flex-col gap-1">
    <span className="text-xs font-medium text-ink-faint first-letter:uppercase">
      <SpelledText text={who} />
    </span>
    <ExactText text={text.trim()} label={who} />
  </div>
);

interface WorkflowQuestionProps {
  detail: Record<string, unknown>;
  runId: string | null | undefined;
}

/** A node of a workflow that waits: its words, what it wants to run, and the way to its run. */
export function WorkflowQuestion({ detail, runId }: WorkflowQuestionProps) {
  const text = (name: string): string => (typeof detail[name] === "string" ? (detail[name] as string) : "");
  return (
    <div className="flex flex-col gap-2.5">
      {text("message") && <ExactText text={text("message").trim()} label="What it asks" />}
      {text("script") && <ExactText text={text("script")} label="The script" />}
      {runId && (
        <Link
          to="/workflows/runs/$runId"
          params={{ runId }}
          className="w-fit text-sm text-accent-ink underline-offset-2 hover:underline"
        >
          See the run, or answer with words of your own
        </Link>
      )}
    </div>
  );
}

/** Money: what was spent, and where the line is. */
export function BudgetQuestion({ question }: { question: Of<"budget"> }) {
  const share = question.cap > 0 ? Math.min(1, question.spent / question.cap) : 1;
  return (
    <div className="flex flex-col gap-2">
      <div className="h-2 overflow-hidden rounded-full bg-hover" aria-hidden>
        <div className="h-full rounded-full bg-warn" style={{ width: `${share * 100}%` }} />
      </div>
      <p className="text-sm text-ink-soft">
        <strong className="font-semibold text-ink tabular-nums">{formatCost(question.spent)}</strong> spent by
        this {question.of || "run"}, of {formatCost(question.cap)}. A yes adds{" "}
        <strong className="font-semibold text-ink tabular-nums">{formatCost(question.raiseBy)}</strong>.
      </p>
    </div>
  );
}
