import { GitFork, Pencil } from "lucide-react";
import { memo, useState } from "react";
import { formatFullTime, formatTime } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { CopyButton } from "@/shared/ui/CopyButton";
import { IconButton } from "@/shared/ui/IconButton";
import { Textarea } from "@/shared/ui/Textarea";
import { AttachmentList, referencesOf } from "./AttachmentList";
import { useFork, useResend } from "./actions";
import { LongText } from "./LongText";
import type { Message } from "./queries";

const EDITABLE = 100_000;

interface UserMessageProps {
  message: Message;
  channelId: string;
}

/** What a person said: at the right, with ways to say it otherwise or to go another way from here. */
export const UserMessage = memo(function UserMessage({ message, channelId }: UserMessageProps) {
  const [editing, setEditing] = useState(false);
  const fork = useFork(channelId);
  if (editing) return <Editor message={message} channelId={channelId} onEnd={() => setEditing(false)} />;
  return (
    <article aria-label="You said" className="group flex flex-col items-end pt-4 pb-1">
      <div className="flex max-w-[min(36rem,88%)] flex-col items-end gap-1.5">
        <AttachmentList references={referencesOf(message.attachments)} />
        <div className="min-w-0 max-w-full rounded-xl rounded-br-sm bg-sunken px-3.5 py-2 leading-relaxed ring-1 ring-line ring-inset dark:bg-raised">
          <LongText text={message.content} plain />
        </div>
      </div>
      <div className="flex h-7 items-center gap-0.5 opacity-0 transition-opacity duration-(--quick) focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <time
          dateTime={message.at}
          title={formatFullTime(message.at)}
          className="px-1.5 text-2xs text-ink-faint tabular-nums"
        >
          {message.author_id !== "owner" && `${message.author_id} · `}
          {formatTime(message.at)}
        </time>
        <CopyButton text={message.content} label="Copy the message" />
        {message.content.length <= EDITABLE && (
          <IconButton
            size="sm"
            data-unfold
            label="Edit and send again"
            icon={<Pencil />}
            onClick={() => setEditing(true)}
          />
        )}
        <IconButton
          size="sm"
          label="Fork from here"
          icon={<GitFork />}
          busy={fork.isPending}
          onClick={() => fork.mutate(message.id)}
        />
      </div>
    </article>
  );
});

function Editor({ message, channelId, onEnd }: UserMessageProps & { onEnd: () => void }) {
  const [text, setText] = useState(message.content);
  const resend = useResend(channelId);
  const send = () => {
    if (text.trim() && !resend.isPending)
      resend.mutate({ message_id: message.id, content: text }, { onSuccess: onEnd });
  };
  return (
    <div className="py-4">
      <div className="rounded-xl border border-accent-line bg-raised p-3 shadow-sm">
        <Textarea
          autoFocus
          aria-label="Edit the message"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") {
              event.preventDefault();
              onEnd();
            }
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              send();
            }
          }}
        />
        <div className="mt-2.5 flex flex-wrap items-center justify-between gap-2">
          <p className="min-w-0 text-xs text-ink-faint">
            What came after it makes room, and stays in a thread of its own.
          </p>
          <div className="flex gap-2">
            <Button size="sm" tone="quiet" onClick={onEnd}>
              Cancel
            </Button>
            <Button size="sm" tone="primary" busy={resend.isPending} disabled={!text.trim()} onClick={send}>
              Send again
            </Button>
          </div>
        </div>
      </div>
    </div>
  );
}
