import {
  Ban,
  Check,
  ChevronRight,
  CircleX,
  Clock,
  Hand,
  Layers,
  type LucideIcon,
  Minus,
  Plug,
  TimerOff,
  Wrench,
} from "lucide-react";
import { memo, useState } from "react";
import { formatDuration } from "@/shared/format/format";
import { classes } from "@/shared/ui/classes";
import { Spinner } from "@/shared/ui/Spinner";
import { VisibleText } from "@/shared/ui/VisibleText";
import { CallDetail } from "./CallDetail";
import { type CallItem, type CallState, groupLabel, shortArgument, standsAlone } from "./rows";

const STATES: Record<CallState, { icon: LucideIcon; word: string; tone: string }> = {
  pending: { icon: Clock, word: "Running", tone: "text-busy-ink" },
  waiting: { icon: Hand, word: "Waits for you", tone: "text-warn-ink" },
  success: { icon: Check, word: "Done", tone: "text-good-ink" },
  error: { icon: CircleX, word: "Error", tone: "text-bad-ink" },
  timeout: { icon: TimerOff, word: "Timed out", tone: "text-bad-ink" },
  denied: { icon: Ban, word: "Denied", tone: "text-warn-ink" },
  cancelled: { icon: Minus, word: "Cancelled", tone: "text-ink-faint" },
};

const LINE =
  "flex w-full min-w-0 items-center gap-2 px-3 py-1.5 text-left text-sm -outline-offset-2 hover:bg-hover";

/** Calls that stand beside each other: one is a line, several fold into one that says what goes on. */
export const Calls = memo(function Calls({
  calls,
  working,
}: {
  calls: readonly CallItem[];
  working: boolean;
}) {
  const [open, setOpen] = useState(false);
  const only = calls.length === 1 ? calls[0] : undefined;
  return (
    <div className="py-1">
      <div
        className={classes(
          "overflow-hidden rounded-lg border bg-raised",
          only && standsAlone(only) && only.state !== "waiting" ? "border-bad/35" : "border-line",
        )}
      >
        {only ? (
          <CallRow call={only} />
        ) : (
          <>
            <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className={LINE}>
              <Layers aria-hidden className="size-4 shrink-0 text-ink-faint" />
              <span className="min-w-0 flex-1 truncate text-ink-soft">{groupLabel(calls, working)}</span>
              {working ? <Spinner className="size-3.5" /> : <Total calls={calls} />}
              <Chevron open={open} />
            </button>
            {open && (
              <ul className="border-t border-line">
                {calls.map((call) => (
                  <li key={call.id} className="border-line not-last:border-b">
                    <CallRow call={call} />
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </div>
    </div>
  );
});

function Total({ calls }: { calls: readonly CallItem[] }) {
  const longest = Math.max(...calls.map((call) => call.durationMs ?? 0));
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-xs text-ink-faint tabular-nums">
      {formatDuration(longest)}
      <Check aria-label="Done" className="size-3.5 text-good-ink" />
    </span>
  );
}

const Chevron = ({ open }: { open: boolean }) => (
  <ChevronRight
    aria-hidden
    className={classes(
      "size-4 shrink-0 text-ink-faint transition-transform duration-(--quick)",
      open && "rotate-90",
    )}
  />
);

/** One call: icon, tool, server, short argument, state, duration; opens to its arguments and result. */
function CallRow({ call }: { call: CallItem }) {
  const [open, setOpen] = useState(false);
  const { icon: Icon, word, tone } = STATES[call.state];
  const Kind = call.server === null ? Wrench : Plug;
  const argument = shortArgument(call.arguments);
  return (
    <div data-call={call.id} data-state={call.state}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className={LINE}>
        <Kind
          aria-label={call.server === null ? "Built-in tool" : "Tool of an MCP server"}
          className="size-4 shrink-0 text-ink-faint"
        />
        <span className="flex min-w-0 flex-1 items-baseline gap-2">
          <span className="max-w-[60%] shrink-0 truncate font-medium" title={call.tool}>
            <VisibleText text={call.tool} />
          </span>
          {call.server !== null && (
            <span className="max-w-28 shrink-0 truncate text-xs text-ink-faint" title={call.server}>
              <VisibleText text={call.server} />
            </span>
          )}
          <span className="min-w-0 truncate font-mono text-xs text-ink-faint" title={argument}>
            <VisibleText text={argument} />
          </span>
        </span>
        <span className={classes("flex shrink-0 items-center gap-1.5 text-xs tabular-nums", tone)}>
          {call.durationMs !== null && call.state !== "pending" && (
            <span className="text-ink-faint">{formatDuration(call.durationMs)}</span>
          )}
          <span className={call.state === "success" ? "sr-only" : "max-sm:sr-only"}>{word}</span>
          {call.state === "pending" ? (
            <Spinner className="size-3.5" />
          ) : (
            <Icon aria-hidden className="size-3.5" />
          )}
        </span>
        <Chevron open={open} />
      </button>
      {!open && standsAlone(call) && call.state !== "waiting" && <Why call={call} />}
      {open && <CallDetail call={call} />}
    </div>
  );
}

/** The first words of what went wrong, without opening anything. */
function Why({ call }: { call: CallItem }) {
  const text = (call.error || call.result?.content || "").trim();
  if (!text) return null;
  return (
    <p
      className="line-clamp-2 px-3 pb-2 pl-9 text-xs text-bad-ink [overflow-wrap:anywhere]"
      title={text.slice(0, 2000)}
    >
      {text.slice(0, 400)}
    </p>
  );
}
