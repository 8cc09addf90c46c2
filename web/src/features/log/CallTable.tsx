import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plug, Wrench } from "lucide-react";
import { type ComponentProps, useEffect, useState } from "react";
import { TableVirtuoso } from "react-virtuoso";
import { pendingApprovals } from "@/features/approvals/queries";
import { channelList } from "@/features/chat/queries";
import {
  formatBytes,
  formatDuration,
  formatFullTime,
  formatServer,
  formatTime,
} from "@/shared/format/format";
import { classes } from "@/shared/ui/classes";
import { StateDot } from "@/shared/ui/StateDot";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { Call } from "./queries";

interface CallTableProps {
  calls: readonly Call[];
  /** What scrolls. */
  scroller: HTMLElement;
  onEnd: () => void;
}

const HEAD =
  "bg-raised py-2 px-2 md:px-3 text-left text-xs font-medium text-ink-faint first:rounded-tl-lg first:pl-4 last:rounded-tr-lg last:pr-4";
const CELL = "border-t border-line py-2 px-2 md:px-3 align-top first:pl-4 last:pr-4";
const WIDE = "max-md:hidden";
const RIGHT = "text-right tabular-nums";

/** Calls as rows; only those that are seen are drawn. */
export function CallTable({ calls, scroller, onEnd }: CallTableProps) {
  const channels = useQuery(channelList).data ?? [];
  const waiting = new Set(useQuery(pendingApprovals).data?.map((one) => one.call_id));
  const names = new Map(channels.map((channel) => [channel.id, channel.name]));
  return (
    <TableVirtuoso
      data={calls}
      customScrollParent={scroller}
      computeItemKey={(_, call) => call.id}
      endReached={onEnd}
      increaseViewportBy={400}
      initialItemCount={Math.min(calls.length, 20)}
      components={{ Table, TableRow }}
      fixedHeaderContent={() => (
        <tr>
          <th scope="col" className={classes(HEAD, "w-27 md:w-28")}>
            Time
          </th>
          <th scope="col" className={HEAD}>
            Tool
          </th>
          <th scope="col" className={classes(HEAD, WIDE, "w-1/6")}>
            Server
          </th>
          <th scope="col" className={classes(HEAD, WIDE, "w-1/6")}>
            Channel
          </th>
          <th scope="col" className={classes(HEAD, "w-28 max-md:rounded-tr-lg md:w-36")}>
            State
          </th>
          <th scope="col" className={classes(HEAD, WIDE, "w-24 text-right")}>
            Took
          </th>
          <th scope="col" className={classes(HEAD, WIDE, "w-24 text-right")}>
            Size
          </th>
        </tr>
      )}
      itemContent={(_, call) => (
        <Cells call={call} channel={names.get(call.channel_id ?? "")} isWaiting={waiting.has(call.id)} />
      )}
    />
  );
}

const Table = (props: ComponentProps<"table">) => (
  <table
    {...props}
    aria-label="Calls"
    className="w-full table-fixed border-separate border-spacing-0 text-sm"
  />
);

function TableRow({ item, ...props }: ComponentProps<"tr"> & { item: Call }) {
  const navigate = useNavigate();
  return (
    // A convenience for the mouse: the tool's name is the link.
    <tr
      {...props}
      onClick={() => {
        if (!getSelection()?.toString()) void navigate({ to: "/log/$callId", params: { callId: item.id } });
      }}
      className="cursor-pointer hover:bg-hover"
    />
  );
}

interface CellsProps {
  call: Call;
  channel?: string;
  isWaiting: boolean;
}

function Cells({ call, channel, isWaiting }: CellsProps) {
  const Icon = call.server_id === null ? Wrench : Plug;
  const where = call.channel_id === null ? "–" : (channel ?? call.channel_id);
  return (
    <>
      <td className={classes(CELL, "whitespace-nowrap text-ink-soft tabular-nums")}>
        <time dateTime={call.at} title={formatFullTime(call.at)}>
          {formatTime(call.at)}
          <span className="block text-2xs text-ink-faint">{dayWords(call.at)}</span>
        </time>
      </td>
      <td className={CELL}>
        <Link
          to="/log/$callId"
          params={{ callId: call.id }}
          onClick={(event) => event.stopPropagation()}
          title={call.tool}
          className="flex min-w-0 items-center gap-1.5 font-medium hover:underline"
        >
          <Icon aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
          <span className="truncate">
            <VisibleText text={call.tool} />
          </span>
        </Link>
        <span className="block truncate text-xs text-ink-faint" title={argumentLine(call)}>
          <VisibleText text={argumentLine(call)} />
        </span>
        <span className="block truncate text-xs text-ink-faint md:hidden">
          {[formatServer(call.server), call.duration_ms === null ? "" : formatDuration(call.duration_ms)]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </td>
      <td className={classes(CELL, WIDE, "truncate text-ink-soft")} title={formatServer(call.server)}>
        <VisibleText text={formatServer(call.server)} />
      </td>
      <td className={classes(CELL, WIDE, "truncate text-ink-soft")} title={where}>
        <VisibleText text={where} />
      </td>
      <td className={CELL}>
        <StateDot
          state={isWaiting && call.status === "pending" ? "waiting" : call.status}
          className="max-md:whitespace-normal!"
        />
      </td>
      <td className={classes(CELL, WIDE, RIGHT)}>
        {call.status === "pending" ? <Elapsed since={call.at} /> : formatDuration(call.duration_ms)}
      </td>
      <td className={classes(CELL, WIDE, RIGHT, "text-ink-soft")}>{formatBytes(call.size)}</td>
    </>
  );
}

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

function dayWords(at: string): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString() ? "today" : day.format(date);
}

const SHORT = 120;

/** The arguments in one line: the value alone when there is one. */
export function argumentLine({ arguments: given }: Pick<Call, "arguments">): string {
  const entries = Object.entries(given);
  const words = entries.map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return entries.length === 1 ? text : `${name}: ${text}`;
  });
  const line = words.join(", ").replace(/\s+/g, " ");
  return line.length > SHORT ? `${line.slice(0, SHORT)}…` : line;
}

/** How long something has been going on. */
export function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="text-busy-ink">{formatDuration(Math.max(0, now - new Date(since).getTime()))}</span>
  );
}
