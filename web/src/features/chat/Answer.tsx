import { GitFork } from "lucide-react";
import { memo } from "react";
import { TerminalText } from "@/features/agents/TerminalText";
import { formatFullTime, formatTime } from "@/shared/format/format";
import { CopyButton } from "@/shared/ui/CopyButton";
import { IconButton } from "@/shared/ui/IconButton";
import { useFork } from "./actions";
import { LongText } from "./LongText";
import { useSpoken } from "./liveTexts";
import type { Message } from "./queries";
import { Thinking } from "./Thinking";

interface AnswerProps {
  /** Null while the model still speaks. */
  message: Message | null;
  runId: string | null;
  iteration: number;
  channelId: string;
}

const STREAMED_WHOLE = 60_000;
const TAIL = 12_000;
/** A program speaks, and tells a terminal of its colours. */
const ESCAPE = "\u001b";

/** What the model says; the same row while it speaks and after, so that nothing moves when it is done. */
export const Answer = memo(function Answer({ message, runId, channelId }: AnswerProps) {
  return (
    <article aria-label="Answer" className="group pt-2">
      <Words message={message} runId={runId} />
      {(message === null || message.content !== "") && (
        <div className="-mt-0.5 flex h-7 items-center gap-0.5 opacity-0 transition-opacity duration-(--quick) focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
          {message && <Actions message={message} channelId={channelId} />}
        </div>
      )}
    </article>
  );
});

/** One and the same for both, or all that was drawn while it came would be drawn again at its end. */
export function Words({ message, runId }: Pick<AnswerProps, "message" | "runId">) {
  const spoken = useSpoken(message === null ? (runId ?? "") : "");
  const speaks = message === null;
  const text = speaks ? spoken.text : message.content;
  const thinking = speaks ? spoken.thinking : message.thinking;
  return (
    <>
      {thinking && <Thinking text={thinking} working={speaks && text === ""} />}
      {speaks && text.includes(ESCAPE) ? (
        <TerminalText text={text} />
      ) : speaks && text.length > STREAMED_WHOLE ? (
        <Tail text={text} />
      ) : (
        text && <LongText text={text} whole={speaks ? STREAMED_WHOLE : undefined} />
      )}
      {message?.finish_reason === "stopped" && <p className="mt-1 text-xs text-ink-faint">Stopped here.</p>}
      {message?.finish_reason === "length" && (
        <p className="mt-1 text-xs text-warn-ink">The model stopped here: its answer came to its limit.</p>
      )}
    </>
  );
}

const Tail = ({ text }: { text: string }) => (
  <>
    <p className="mb-2 text-xs text-ink-faint">A long answer: its end is shown while it comes.</p>
    <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text.slice(-TAIL)}</div>
  </>
);

function Actions({ message, channelId }: { message: Message; channelId: string }) {
  const fork = useFork(channelId);
  return (
    <>
      {message.content && <CopyButton text={message.content} label="Copy the answer" className="-ml-1.5" />}
      <IconButton
        size="sm"
        label="Fork from here"
        icon={<GitFork />}
        busy={fork.isPending}
        onClick={() => fork.mutate(message.id)}
      />
      <time
        dateTime={message.at}
        title={formatFullTime(message.at)}
        className="px-1.5 text-2xs text-ink-faint tabular-nums"
      >
        {formatTime(message.at)}
      </time>
    </>
  );
}
