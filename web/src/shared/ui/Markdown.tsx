import { lazy, memo, Suspense } from "react";

const Rendered = lazy(() => import("./MarkdownRendered"));

/** Markdown without raw HTML, loaded when it is first needed; until then the plain text stands there. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="prose-text whitespace-pre-wrap">{text}</div>}>
      <Rendered text={text} />
    </Suspense>
  );
});
