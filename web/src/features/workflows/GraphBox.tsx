import { ChevronLeft, ChevronRight, Filter } from "lucide-react";
import { classes } from "@/shared/ui/classes";
import type { Shown } from "./Graph";
import type { GraphNode } from "./graph";
import { NODE_LOOKS, typeIcon } from "./states";

interface BoxProps {
  node: GraphNode;
  shown: Shown | undefined;
  isSelected: boolean;
  onSelect: () => void;
}

const ring = (isSelected: boolean): string | false =>
  isSelected && "outline-2 outline-offset-2 outline-accent";

function Sign({ node, shown }: Pick<BoxProps, "node" | "shown">) {
  const look = shown && shown.status !== "pending" ? NODE_LOOKS[shown.status] : null;
  const Icon = look?.icon ?? typeIcon(node.type);
  return (
    <span
      aria-hidden
      className={classes(
        "grid size-7 shrink-0 place-items-center rounded-sm transition-colors duration-(--calm) [&_svg]:size-4",
        look ? look.sign : "bg-hover text-ink-soft",
      )}
    >
      <Icon />
    </span>
  );
}

/** What the box says by its looks, for those who listen. */
const Spoken = ({ node, shown }: Pick<BoxProps, "node" | "shown">) => (
  <span className="sr-only">
    , {node.type || "no type"}
    {shown && `, ${NODE_LOOKS[shown.status].word}`}:{" "}
  </span>
);

/** A step. */
export function GraphBox({ node, shown, isSelected, onSelect }: BoxProps) {
  const box = shown ? NODE_LOOKS[shown.status].box : "border-line-strong bg-raised";
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      data-status={shown?.status}
      onClick={onSelect}
      title={node.about || undefined}
      className={classes(
        "pointer-events-auto flex size-full items-center gap-2.5 rounded-md border bg-clip-padding px-2.5 text-left text-ink shadow-sm transition-colors duration-(--calm)",
        box,
        ring(isSelected),
      )}
    >
      <Sign node={node} shown={shown} />
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-1.5">
          <span
            className={classes(
              "truncate text-sm font-semibold",
              shown?.status === "skipped" && "text-ink-soft line-through decoration-ink-faint",
            )}
          >
            {node.id}
          </span>
          <Spoken node={node} shown={shown} />
          {node.when !== null && (
            <Filter aria-label="has a condition" className="size-3 shrink-0 text-ink-faint" />
          )}
        </span>
        <span className="block truncate text-xs text-ink-soft">
          {shown?.note ?? (node.about || node.type)}
        </span>
      </span>
    </button>
  );
}

/** A step that has others in it: once for each item, or again and again. */
export function GraphFrame({ node, shown, isSelected, onSelect }: BoxProps) {
  return (
    <div
      className={classes(
        "size-full rounded-lg border transition-colors duration-(--calm)",
        shown && shown.status !== "pending" ? NODE_LOOKS[shown.status].box : "border-line-strong",
        shown && shown.status !== "pending" ? "bg-sunken/40!" : "bg-sunken/70",
        ring(isSelected),
      )}
    >
      <div className="flex h-11 items-center gap-1 pr-1.5">
        <button
          type="button"
          aria-pressed={isSelected}
          data-status={shown?.status}
          onClick={onSelect}
          title={node.about || undefined}
          className="pointer-events-auto flex h-full min-w-0 flex-1 items-center gap-2.5 rounded-md pl-2.5 text-left"
        >
          <Sign node={node} shown={shown} />
          <span className="min-w-0">
            <span className="block truncate text-sm leading-tight font-semibold">{node.id}</span>
            <Spoken node={node} shown={shown} />
            <span className="block truncate text-xs leading-tight text-ink-soft">
              {shown?.note ?? (node.about || node.type)}
            </span>
          </span>
        </button>
        {shown?.iterations && shown.iterations.all.length > 0 && (
          <Stepper id={node.id} type={node.type} {...shown.iterations} />
        )}
      </div>
    </div>
  );
}

type StepperProps = NonNullable<Shown["iterations"]> & { id: string; type: string };

function Stepper({ id, type, shown, all, show }: StepperProps) {
  const place = all.indexOf(shown);
  const word = type === "foreach" ? "item" : "iteration";
  const step = (by: -1 | 1, label: string, Icon: typeof ChevronLeft) => (
    <button
      type="button"
      aria-label={`${label} ${word} of ${id}`}
      disabled={all[place + by] === undefined}
      onClick={() => show(all[place + by] as number)}
      className="grid size-5 place-items-center rounded-xs text-ink-soft hover:bg-hover hover:text-ink disabled:opacity-40"
    >
      <Icon aria-hidden className="size-3.5" />
    </button>
  );
  return (
    <span className="nopan pointer-events-auto flex shrink-0 items-center rounded-sm border border-line bg-raised px-0.5 py-0.5 text-xs tabular-nums">
      {step(-1, "Previous", ChevronLeft)}
      <span className="px-0.5">
        {place + 1}/{all.length}
      </span>
      {step(1, "Next", ChevronRight)}
    </span>
  );
}
