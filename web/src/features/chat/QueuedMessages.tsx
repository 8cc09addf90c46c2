import { Clock, Pencil, Undo2 } from "lucide-react";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Textarea } from "@/shared/ui/Textarea";
import { toast } from "@/shared/ui/Toast";
import type { Message } from "./queries";

/** What was said while a run goes on and has not been read yet: it can be changed or taken back. */
export function QueuedMessages({ messages }: { messages: readonly Message[] }) {
  if (messages.length === 0) return null;
  return (
    <section
      aria-label="Queued messages"
      className="mx-2 -mb-2 animate-rise rounded-t-lg border border-line border-b-0 bg-sunken px-2 pt-1.5 pb-3.5"
    >
      <ul className="flex max-h-48 flex-col overflow-y-auto">
        {messages.map((message) => (
          <Queued key={message.id} message={message} />
        ))}
      </ul>
    </section>
  );
}

function Queued({ message }: { message: Message }) {
  const [editing, setEditing] = useState(false);
  const path = { message_id: message.id };
  const withdraw = () =>
    read(api.DELETE("/api/messages/{message_id}", { params: { path } })).catch(toast.error);
  if (editing) return <Editor message={message} onEnd={() => setEditing(false)} />;
  return (
    <li className="flex items-center gap-2 py-0.5 pl-1.5 text-sm">
      <Clock aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      <span className="min-w-0 flex-1 truncate text-ink-soft" title={message.content}>
        {message.content.slice(0, 300)}
      </span>
      <span className="shrink-0 text-xs text-ink-faint max-sm:hidden">joins at the next step</span>
      <IconButton
        size="sm"
        label="Edit the queued message"
        icon={<Pencil />}
        onClick={() => setEditing(true)}
      />
      <IconButton
        size="sm"
        label="Withdraw the queued message"
        icon={<Undo2 />}
        onClick={() => void withdraw()}
      />
    </li>
  );
}

function Editor({ message, onEnd }: { message: Message; onEnd: () => void }) {
  const [text, setText] = useState(message.content);
  const save = async () => {
    try {
      const path = { message_id: message.id };
      await read(api.PATCH("/api/messages/{message_id}", { params: { path }, body: { content: text } }));
    } catch (error) {
      toast.error(error);
    }
    onEnd();
  };
  return (
    <li className="flex items-end gap-2 p-1">
      <Textarea
        autoFocus
        rows={1}
        aria-label="Queued message"
        className="min-h-9!"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.preventDefault();
            onEnd();
          }
          if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            void save();
          }
        }}
      />
      <Button size="sm" disabled={!text.trim()} onClick={() => void save()}>
        Save
      </Button>
    </li>
  );
}
