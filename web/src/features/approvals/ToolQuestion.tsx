import { formatNumber } from "@/shared/format/format";
import { Diff } from "@/shared/ui/Diff";
import type { Question } from "./question";
import { SpelledText } from "./SpelledText";

type Tool = Extract<Question, { kind: "tool" }>;

/** What would run, exactly. */
export function ToolQuestion({ question }: { question: Tool }) {
  const isEmpty = question.argumentsText.trim() === "{}";
  return (
    <div className="flex flex-col gap-3">
      {question.diff && (
        <div className="flex flex-col gap-1.5">
          <h4 className="text-xs font-medium text-warn-ink">
            Its definition has changed since it was allowed
          </h4>
          <Diff text={question.diff} label="What changed in the definition" />
        </div>
      )}
      {isEmpty ? (
        <p className="text-sm text-ink-faint">It takes no arguments.</p>
      ) : (
        <ExactText text={question.argumentsText} label="Arguments" />
      )}
      {question.argumentsCut && (
        <p className="text-xs text-warn-ink">
          Not all of it is shown: the arguments have {formatNumber(question.argumentsSize)} characters. Deny
          it if you need to see the rest first.
        </p>
      )}
      {question.description && (
        <details className="text-sm text-ink-soft">
          <summary className="w-fit cursor-pointer rounded-xs text-xs text-ink-faint hover:text-ink">
            What the tool says about itself
          </summary>
          <p
            className="mt-1.5 max-h-48 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]"
            tabIndex={-1}
          >
            <SpelledText text={question.description} />
          </p>
        </details>
      )}
    </div>
  );
}

/** A text of machines in which nothing hides. */
export const ExactText = ({ text, label }: { text: string; label: string }) => (
  <section
    aria-label={label}
    tabIndex={0}
    className="max-h-80 overflow-auto rounded-md border border-line bg-sunken px-3 py-2.5 font-mono text-xs leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]"
  >
    <SpelledText text={text} />
  </section>
);
