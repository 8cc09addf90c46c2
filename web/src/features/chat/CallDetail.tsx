import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { formatBytes } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { JsonView } from "@/shared/ui/JsonView";
import { Skeleton } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { AttachmentList, referencesOf } from "./AttachmentList";
import { callById } from "./queries";
import type { CallItem } from "./rows";

const PAGE = 30_000;
const PRETTY = 200_000;
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;

/** A call opened: its arguments, and its result as far as it is wanted. */
export function CallDetail({ call }: { call: CallItem }) {
  return (
    <div className="flex flex-col gap-3 border-t border-line px-3 pt-2.5 pb-3">
      <Part title="Arguments">
        <Pretty text={call.arguments} label="arguments" />
      </Part>
      {call.state !== "pending" && call.state !== "waiting" && <Result call={call} />}
    </div>
  );
}

const Part = ({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: React.ReactNode;
  children: React.ReactNode;
}) => (
  <section className="min-w-0">
    <div className="mb-1 flex items-baseline justify-between gap-3 text-xs">
      <h4 className="font-medium text-ink-soft">{title}</h4>
      <span className="text-ink-faint">{aside}</span>
    </div>
    {children}
  </section>
);

function parsed(text: string): unknown {
  if (text.length > PRETTY || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function Pretty({ text, label }: { text: string; label: string }) {
  const value = parsed(text);
  if (value !== undefined) return <JsonView value={value} label={label} />;
  return <CodeBlock code={text || "(nothing)"} wrap fold={30} />;
}

function Result({ call }: { call: CallItem }) {
  const record = useQuery({ ...callById(call.id), enabled: call.id !== "", retry: false });
  if (record.isPending && call.id !== "")
    return (
      <Part title="Result">
        <Skeleton className="h-16 w-full" />
      </Part>
    );
  // Conversations that were imported have results, but no line in this hub's log.
  const text = record.data?.result ?? call.result?.content ?? record.data?.error ?? "";
  const size = record.data?.size ?? text.length;
  const pictures = (record.data?.content ?? []).filter(
    (block) => block.type === "image" && PICTURE.test(String(block.mimeType)),
  );
  return (
    <Part
      title="Result"
      aside={
        <>
          {formatBytes(size)}
          {record.data && (
            <Link
              to="/log/$callId"
              params={{ callId: call.id }}
              className="ml-2.5 font-medium text-accent-ink hover:underline"
            >
              Full result
            </Link>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-2">
        {pictures.map((block, place) => (
          <img
            key={place}
            src={`data:${String(block.mimeType)};base64,${String(block.data)}`}
            alt={`Result of ${call.tool}`}
            className="max-h-80 max-w-full self-start rounded-md border border-line bg-sunken"
          />
        ))}
        {pictures.length === 0 && <AttachmentList references={referencesOf(call.result?.attachments)} />}
        {text && <Pretty text={text} label="result" />}
        {record.data?.structuredContent != null && parsed(text) === undefined && (
          <JsonView value={record.data.structuredContent} label="structured content" />
        )}
        {record.data?.result_file && <Paged callId={call.id} />}
      </div>
    </Part>
  );
}

/** A result that was too large for the log, page by page. */
function Paged({ callId }: { callId: string }) {
  const [text, setText] = useState("");
  const [next, setNext] = useState<number | null>(0);
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    try {
      const page = await read(
        api.GET("/api/tool-calls/{call_id}/result", {
          params: { path: { call_id: callId }, query: { offset: next ?? 0, limit: PAGE } },
        }),
      );
      setText(text + page.text);
      setNext(page.next_offset);
    } catch (error) {
      toast.error(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {text && <CodeBlock code={text} wrap fold={200} />}
      {next !== null && (
        <Button size="sm" busy={busy} onClick={() => void more()} className="self-start">
          {next === 0 ? "Read the whole result" : "Read on"}
        </Button>
      )}
    </>
  );
}
