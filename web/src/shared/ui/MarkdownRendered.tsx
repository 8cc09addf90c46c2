/**
 * The renderer behind `Markdown`: a chunk of its own. HTML in the text is shown as text, never as elements; pictures from
 * elsewhere are links, so that a text cannot call home.
 *
 * A growing text is cut into blocks, and a block that did not change is not rendered again: the cost of a frame is
 * that of the last block.
 */
import { type ComponentProps, memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "./CodeBlock";

const PLUGINS = [remarkGfm];
const OURS = /^(data:image\/(png|jpeg|gif|webp);|\/(?!\/))/;

function Code({ className, children }: ComponentProps<"code">) {
  const text = String(children ?? "");
  const language = /language-([\w+-]+)/.exec(className ?? "")?.[1];
  if (!language && !text.includes("\n")) return <code>{children}</code>;
  return <CodeBlock code={text.replace(/\n$/, "")} language={language} fold={200} className="my-3" />;
}

const COMPONENTS: Components = {
  pre: ({ children }) => <>{children}</>,
  code: Code,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }) =>
    typeof src === "string" && OURS.test(src) ? (
      <img src={src} alt={alt ?? ""} loading="lazy" className="max-h-112 rounded-md" />
    ) : (
      <a href={typeof src === "string" ? src : undefined} target="_blank" rel="noreferrer noopener">
        {alt || String(src)}
      </a>
    ),
};

// `data:` pictures pass; everything else keeps to the library's list of safe schemes.
const address = (url: string): string =>
  OURS.test(url) || /^(https?:|mailto:|#)/i.test(url) || !/^[a-z][a-z0-9+.-]*:/i.test(url) ? url : "";

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={address}>
      {text}
    </ReactMarkdown>
  );
});

/** Cut before every paragraph that surely begins a block of its own: not inside a fence, a list or a quote. */
export function cutIntoBlocks(text: string): string[] {
  const blocks: string[] = [];
  let current: string[] = [];
  let fence: string | null = null;
  let blank = false;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const begins = fence === null && blank && /^\S/.test(line) && !/^([-*+>|]|\d+[.)]|\[)/.test(line);
    if (begins && current.length > 0) {
      blocks.push(current.join("\n"));
      current = [];
    }
    if (fence === null && mark) fence = mark;
    else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) fence = null;
    blank = line.trim() === "";
    current.push(line);
  }
  if (current.length > 0) blocks.push(current.join("\n"));
  return blocks;
}

export default function MarkdownRendered({ text }: { text: string }) {
  // Definitions of links stand at the end and hold for the whole text: such a text stays in one piece.
  const blocks = useMemo(() => (/^ {0,3}\[[^\]]+\]:/m.test(text) ? [text] : cutIntoBlocks(text)), [text]);
  return (
    <div className="prose-text">
      {blocks.map((block, place) => (
        <Block key={place} text={block} />
      ))}
    </div>
  );
}
