import { CircleAlert, ListCollapse } from "lucide-react";
import { memo } from "react";
import { LongText } from "./LongText";
import type { Message } from "./queries";

/** What the hub itself has to say: how a run ended, or a summary of what came before. */
export const Note = memo(function Note({ message }: { message: Message }) {
  if (message.covers)
    return (
      <details className="my-2 rounded-md border border-line bg-sunken/60 px-3.5 py-2 text-sm">
        <summary className="flex items-center gap-2 text-ink-soft">
          <ListCollapse aria-hidden className="size-4 text-ink-faint" />
          What came before was summed up to save room
        </summary>
        <div className="mt-2 text-ink-soft">
          <LongText text={message.content} />
        </div>
      </details>
    );
  const tone = message.is_error ? "bg-bad-soft text-bad-ink" : "bg-warn-soft text-warn-ink";
  return (
    <div
      role={message.is_error ? "alert" : "note"}
      className={`my-2 flex items-start gap-2.5 rounded-md px-3.5 py-2.5 text-sm ${tone}`}
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1 text-ink [overflow-wrap:anywhere]">
        <LongText text={message.content} />
      </div>
    </div>
  );
});
