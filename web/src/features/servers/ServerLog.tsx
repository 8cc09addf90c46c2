import { useQuery } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import { useEvent } from "@/shared/events/events";
import { formatTime } from "@/shared/format/format";
import { Badge, type Mood } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { CopyButton } from "@/shared/ui/CopyButton";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Server, serverLog } from "./queries";

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");
const CLOSE = 24;

/** What a server writes, as it writes it. */
export function ServerLog({ server }: { server: Server }) {
  return (
    <div className="flex flex-col gap-4">
      {server.transport === "stdio" && <ErrorOutput server={server} />}
      <Messages server={server} />
    </div>
  );
}

function ErrorOutput({ server }: { server: Server }) {
  const log = useQuery(serverLog(server.id));
  const text = (log.data?.text ?? "").replace(COLOURS, "");
  return (
    <Card
      title="Standard error"
      description="The end of it, live. Secrets are taken out."
      actions={text && <CopyButton text={text} label="Copy the log" />}
    >
      {log.isPending && <SkeletonRows rows={3} />}
      {log.isError && <ErrorState error={log.error} onRetry={() => void log.refetch()} />}
      {log.data && text.trim() === "" && (
        <p className="text-sm text-ink-soft">It has written nothing. What it writes shows up here at once.</p>
      )}
      {text.trim() !== "" && <Following text={text} />}
    </Card>
  );
}

/** Stays at the end while one is there, and lets one read further up. */
function Following({ text }: { text: string }) {
  const box = useRef<HTMLPreElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what moves the end
  useLayoutEffect(() => {
    if (atEnd) toEnd();
  }, [text, atEnd]);
  return (
    <div className="relative">
      <pre
        ref={box}
        tabIndex={0}
        role="log"
        aria-label="Standard error"
        onScroll={({ currentTarget: at }) =>
          setAtEnd(at.scrollHeight - at.scrollTop - at.clientHeight < CLOSE)
        }
        className="max-h-112 min-h-24 overflow-auto whitespace-pre-wrap rounded-md border border-line bg-sunken p-3 text-xs leading-relaxed [overflow-wrap:anywhere]"
      >
        {text}
      </pre>
      {!atEnd && (
        <Button
          size="sm"
          icon={<ArrowDown />}
          className="absolute right-4 bottom-3"
          onClick={() => {
            setAtEnd(true);
            toEnd();
          }}
        >
          To the end
        </Button>
      )}
    </div>
  );
}

interface Message {
  seq: number;
  at: string;
  level: string;
  logger: string | null;
  text: string;
}

const KEPT = 500;
const MOODS: Record<string, Mood> = {
  warning: "warn",
  error: "bad",
  critical: "bad",
  alert: "bad",
  emergency: "bad",
};

/** Lines that it sends to its client's log; they are not kept, so this begins when one looks. */
function Messages({ server }: { server: Server }) {
  const [messages, setMessages] = useState<Message[]>([]);
  useEvent("mcp.log", ({ seq, at, data }) => {
    if (data.server_id !== server.id) return;
    const text = typeof data.data === "string" ? data.data : JSON.stringify(data.data);
    setMessages((list) => [
      ...list.slice(1 - KEPT),
      { seq, at, level: data.level, logger: data.logger, text },
    ]);
  });
  return (
    <Card title="Log messages" description="What it sends over the protocol while this page is open.">
      {messages.length === 0 ? (
        <p className="text-sm text-ink-soft">None so far.</p>
      ) : (
        <ol
          role="log"
          aria-label="Log messages"
          tabIndex={0}
          className="flex max-h-80 flex-col gap-1 overflow-y-auto text-xs"
        >
          {messages.map((message) => (
            <li key={message.seq} className="flex flex-wrap gap-x-2.5">
              <time className="text-ink-faint tabular-nums" dateTime={message.at}>
                {formatTime(message.at)}
              </time>
              <Badge mood={MOODS[message.level] ?? "neutral"}>{message.level}</Badge>
              {message.logger && <span className="text-ink-faint">{message.logger}</span>}
              <span className="min-w-0 font-mono [overflow-wrap:anywhere]">
                <VisibleText text={message.text} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
