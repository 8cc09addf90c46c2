import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/shared/api/client";
import { formatDuration, formatNumber } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { JsonView } from "@/shared/ui/JsonView";
import { StateDot } from "@/shared/ui/StateDot";
import { VisibleText } from "@/shared/ui/VisibleText";

type Call = Schemas["Call"];
type Block = Record<string, unknown>;

/** What a call gave: its blocks as what they are, the structured part, how large it really was. */
export function CallResult({ call }: { call: Call }) {
  const blocks = call.content ?? [];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
        <StateDot state={call.status} />
        <span>{formatDuration(call.duration_ms)}</span>
        {call.size != null && <span>{formatNumber(call.size)} characters</span>}
        <Link
          to="/log/$callId"
          params={{ callId: call.id }}
          className="text-accent-ink underline-offset-2 hover:underline"
        >
          {call.result_file ? "Full result in the log" : "In the log"}
        </Link>
      </p>
      {call.error && (
        <p className="whitespace-pre-wrap rounded-md bg-bad-soft px-3 py-2 text-sm [overflow-wrap:anywhere]">
          <VisibleText text={call.error} />
        </p>
      )}
      {blocks.map((block, place) => (
        <ContentBlock key={place} block={block} />
      ))}
      {blocks.length === 0 && call.result && call.result !== call.error && <TextBlock text={call.result} />}
      {call.structuredContent != null && (
        <div>
          <p className="mb-1 text-xs text-ink-soft">Structured</p>
          <JsonView value={call.structuredContent} depth={3} label="Structured result" />
        </div>
      )}
      {blocks.length === 0 && !call.result && call.structuredContent == null && !call.error && (
        <p className="text-sm text-ink-soft">It gave nothing back.</p>
      )}
    </div>
  );
}

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** One block of content as MCP writes it. Strangers' text is shown, never run. */
export function ContentBlock({ block }: { block: Block }) {
  const mime = text(block.mimeType) ?? "";
  switch (block.type) {
    case "text":
      return <TextBlock text={text(block.text) ?? ""} />;
    case "image":
      return <Picture mime={mime} data={text(block.data) ?? ""} />;
    case "resource": {
      const resource = (block.resource ?? {}) as Block;
      return <ResourceContent resource={resource} />;
    }
    case "resource_link":
      return (
        <p className="text-sm [overflow-wrap:anywhere]">
          <Badge>Resource</Badge> {text(block.title) ?? text(block.name)}{" "}
          <code className="text-ink-soft">
            <VisibleText text={text(block.uri) ?? ""} />
          </code>
        </p>
      );
    default:
      return <JsonView value={block} depth={1} label={`Content of type ${String(block.type)}`} />;
  }
}

/** What reading a resource gives. */
export function ResourceContent({ resource }: { resource: Block }) {
  const mime = text(resource.mimeType) ?? "";
  const blob = text(resource.blob);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-2 text-xs text-ink-soft">
        <code className="[overflow-wrap:anywhere]">
          <VisibleText text={text(resource.uri) ?? ""} />
        </code>
        {mime && <Badge>{mime}</Badge>}
      </p>
      {blob === null ? (
        <TextBlock text={text(resource.text) ?? ""} />
      ) : mime.startsWith("image/") ? (
        <Picture mime={mime} data={blob} />
      ) : (
        <p className="text-sm text-ink-soft">
          {formatNumber(Math.floor((blob.length * 3) / 4))} bytes that are no text.
        </p>
      )}
    </div>
  );
}

function TextBlock({ text: shown }: { text: string }) {
  const json = asJson(shown);
  if (json !== undefined) return <JsonView value={json} depth={3} label="Result" />;
  return <CodeBlock code={shown} wrap fold={60} />;
}

/** Objects and lists only: a bare number or word reads better as it is. */
function asJson(shown: string): unknown {
  if (!/^\s*[[{]/.test(shown) || shown.length > 500_000) return undefined;
  try {
    return JSON.parse(shown);
  } catch {
    return undefined;
  }
}

const PICTURES = /^image\/(png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

/** In an `img`, where nothing in a picture can run. */
function Picture({ mime, data }: { mime: string; data: string }) {
  if (!PICTURES.test(mime) || !/^[\w+/=\s-]*$/.test(data))
    return (
      <p className="text-sm text-ink-soft">A picture of a kind that is not shown ({mime || "unknown"}).</p>
    );
  return (
    <figure className="flex flex-col gap-1">
      <img
        src={`data:${mime};base64,${data}`}
        alt="Result of the tool"
        className="max-h-96 max-w-full self-start rounded-md border border-line bg-sunken"
      />
      <figcaption className="text-2xs text-ink-faint">
        {mime}, {formatNumber(Math.floor((data.length * 3) / 4))} bytes
      </figcaption>
    </figure>
  );
}
