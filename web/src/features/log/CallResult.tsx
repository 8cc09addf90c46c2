import { useInfiniteQuery } from "@tanstack/react-query";
import { formatNumber } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { CopyButton } from "@/shared/ui/CopyButton";
import { ErrorState } from "@/shared/ui/ErrorState";
import { JsonView } from "@/shared/ui/JsonView";
import { Skeleton } from "@/shared/ui/Skeleton";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Call, resultText } from "./queries";

/** What came back: text part by part, pictures, structured content. */
export function CallResult({ call }: { call: Call }) {
  if (call.status === "pending")
    return (
      <Card title="Result">
        <p className="text-sm text-ink-faint">The call has not ended. The result appears here by itself.</p>
      </Card>
    );
  const others = (call.content ?? []).filter((block) => block.type !== "text");
  return (
    <>
      <Card
        title={call.isError ? "Error" : "Result"}
        actions={call.code ? <Badge mood={call.isError ? "bad" : "neutral"}>{call.code}</Badge> : undefined}
      >
        <ResultText call={call} />
      </Card>
      {others.length > 0 && (
        <Card title={others.every(isPicture) ? "Pictures" : "More content"}>
          <div className="flex flex-col gap-3">
            {others.map((block, place) => (
              <Block key={place} block={block} />
            ))}
          </div>
        </Card>
      )}
      {call.structuredContent != null && (
        <Card title="Structured content">
          <JsonView value={call.structuredContent} label="Structured content" depth={3} />
        </Card>
      )}
    </>
  );
}

type Content = Record<string, unknown>;

const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const isPicture = (block: Content): boolean =>
  block.type === "image" && typeof block.data === "string" && PICTURES.test(String(block.mimeType));

function Block({ block }: { block: Content }) {
  if (!isPicture(block)) return <JsonView value={block} label={String(block.type)} depth={1} />;
  return (
    <img
      src={`data:${block.mimeType};base64,${block.data}`}
      alt="What the tool drew"
      className="max-h-112 min-h-8 min-w-8 max-w-full self-start rounded-md border border-line bg-sunken object-contain"
    />
  );
}

function ResultText({ call }: { call: Call }) {
  const text = useInfiniteQuery(resultText(call.id));
  if (text.isPending) return <Skeleton className="h-24 w-full" />;
  if (text.isError)
    return (
      <ErrorState
        title="The result could not be read"
        error={text.error}
        onRetry={() => void text.refetch()}
      />
    );
  const parts = text.data.pages;
  const shown = parts.reduce((sum, part) => sum + part.text.length, 0);
  const size = parts[0]?.size ?? 0;
  if (size === 0) return <p className="text-sm text-ink-faint">There is no text in it.</p>;
  const whole = () => parts.map((part) => part.text).join("");
  const pretty = parts.length === 1 && !text.hasNextPage ? asJson(whole()) : undefined;
  if (pretty !== undefined) return <JsonView value={pretty} label="Result" depth={3} />;
  return (
    <div className="flex min-w-0 flex-col gap-2.5">
      <section aria-label="Result" className="relative min-w-0 rounded-md border border-line bg-sunken">
        <CopyButton text={whole} label="Copy what is shown" className="absolute top-1 right-3 bg-sunken/80" />
        <div
          tabIndex={0}
          className="max-h-[70vh] overflow-auto p-3 pr-12 font-mono text-xs leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          {parts.map((part) => (
            <VisibleText key={part.offset} text={part.text} />
          ))}
        </div>
      </section>
      {(text.hasNextPage || parts.length > 1) && (
        <div className="flex flex-wrap items-center gap-3 text-xs text-ink-faint">
          <span>
            {formatNumber(shown)} of {formatNumber(size)} characters
          </span>
          {text.hasNextPage && (
            <Button size="sm" busy={text.isFetchingNextPage} onClick={() => void text.fetchNextPage()}>
              Show more
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

/** A text that is an object or a list in JSON. */
export function asJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
