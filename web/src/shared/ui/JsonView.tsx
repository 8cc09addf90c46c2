import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { CopyButton } from "./CopyButton";
import { classes } from "./classes";
import { VisibleText } from "./VisibleText";

interface JsonViewProps {
  value: unknown;
  /** How many levels are open at first. */
  depth?: number;
  label?: string;
  className?: string;
}

const LONG = 400;
const MANY = 100;

/** JSON, pretty: parts fold, long texts and lists are cut with a way to see the rest, hidden characters show. */
export function JsonView({ value, depth = 2, label = "JSON", className }: JsonViewProps) {
  return (
    <section
      aria-label={label}
      className={classes("relative min-w-0 rounded-md border border-line bg-sunken", className)}
    >
      <CopyButton
        text={() => JSON.stringify(value, null, 2) ?? "null"}
        label={`Copy ${label}`}
        className="absolute top-1 right-1 bg-sunken/80"
      />
      <div tabIndex={0} className="overflow-x-auto p-3 pr-10 font-mono text-xs leading-relaxed">
        <Node value={value} depth={depth} />
      </div>
    </section>
  );
}

interface NodeProps {
  value: unknown;
  depth: number;
  name?: string;
}

function Node({ value, depth, name }: NodeProps) {
  if (typeof value === "object" && value !== null) return <Branch value={value} depth={depth} name={name} />;
  return (
    <div className="pl-4 [overflow-wrap:anywhere]">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

function Name({ name }: { name?: string }) {
  if (name === undefined) return null;
  return (
    <span className="text-syntax-key">
      <VisibleText text={name} />
      <span className="text-ink-faint">: </span>
    </span>
  );
}

function Branch({ value, depth, name }: NodeProps & { value: object }) {
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const [open, setOpen] = useState(depth > 0);
  const [shown, setShown] = useState(MANY);
  const marks = isList ? "[]" : "{}";
  if (entries.length === 0)
    return (
      <div className="pl-4">
        <Name name={name} />
        <span className="text-ink-faint">{marks}</span>
      </div>
    );
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex items-center rounded-xs text-left hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={classes(
            "size-3 text-ink-faint transition-transform duration-(--quick)",
            open && "rotate-90",
          )}
        />
        <span className="ml-1">
          <Name name={name} />
          <span className="text-ink-faint">{isList ? `[${entries.length}]` : `{${entries.length}}`}</span>
        </span>
      </button>
      {open && (
        <div className="ml-1.5 border-l border-line pl-1.5">
          {entries.slice(0, shown).map(([key, child]) => (
            <Node key={key} name={key} value={child} depth={depth - 1} />
          ))}
          {entries.length > shown && (
            <button
              type="button"
              className="ml-4 text-accent-ink hover:underline"
              onClick={() => setShown(shown * 10)}
            >
              {entries.length - shown} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <LongText text={value} />;
  const tone = typeof value === "number" ? "text-syntax-number" : "text-syntax-word";
  return <span className={tone}>{String(value)}</span>;
}

function LongText({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const cut = !open && text.length > LONG;
  return (
    <span className="whitespace-pre-wrap text-syntax-text">
      "<VisibleText text={cut ? text.slice(0, LONG) : text} />"
      {cut && (
        <button
          type="button"
          className="ml-1 font-sans text-accent-ink hover:underline"
          onClick={() => setOpen(true)}
        >
          … {(text.length - LONG).toLocaleString()} more characters
        </button>
      )}
    </span>
  );
}
