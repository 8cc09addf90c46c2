import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { formatDuration, formatServer } from "@/shared/format/format";
import { Card } from "@/shared/ui/Card";
import { classes } from "@/shared/ui/classes";
import { IconButton } from "@/shared/ui/IconButton";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { StateDot } from "@/shared/ui/StateDot";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Call, callsOfRun } from "./queries";

/** Where each call lies within its run, as shares of the run's time. */
export function barsOf(calls: readonly Call[], now = Date.now()): { from: number; width: number }[] {
  const times = calls.map((call) => {
    const begin = new Date(call.at).getTime();
    return {
      begin,
      end: call.duration_ms === null || call.duration_ms === undefined ? now : begin + call.duration_ms,
    };
  });
  const first = Math.min(...times.map((time) => time.begin));
  const whole = Math.max(1, Math.max(...times.map((time) => time.end)) - first);
  return times.map(({ begin, end }) => ({
    from: (begin - first) / whole,
    width: Math.max(0.01, (end - begin) / whole),
  }));
}

/** The calls of the same run, in their order, each with its place in time. */
export function RunCalls({ runId, callId }: { runId: string; callId: string }) {
  const navigate = useNavigate();
  const calls = useQuery(callsOfRun(runId));
  if (calls.isPending) return <SkeletonRows rows={3} />;
  if (calls.isError) return null;
  const bars = barsOf(calls.data);
  const place = calls.data.findIndex((call) => call.id === callId);
  const go = (step: number) => {
    const next = calls.data[place + step];
    if (next) void navigate({ to: "/log/$callId", params: { callId: next.id } });
  };
  return (
    <Card
      title="The run it belongs to"
      description={
        <Link to="/log" search={{ run: runId } as never} className="underline-offset-2 hover:underline">
          {place >= 0 ? `Call ${place + 1} of ${calls.data.length}` : `${calls.data.length} calls`}
        </Link>
      }
      actions={
        <span className="flex">
          <IconButton
            label="The call before"
            icon={<ChevronLeft />}
            size="sm"
            disabled={place <= 0}
            onClick={() => go(-1)}
          />
          <IconButton
            label="The call after"
            icon={<ChevronRight />}
            size="sm"
            disabled={place < 0 || place >= calls.data.length - 1}
            onClick={() => go(1)}
          />
        </span>
      }
    >
      <ol className="-mx-2 flex max-h-[60vh] flex-col overflow-y-auto">
        {calls.data.map((call, at) => (
          <li key={call.id}>
            <Link
              to="/log/$callId"
              params={{ callId: call.id }}
              aria-current={call.id === callId ? "true" : undefined}
              className={classes(
                "flex flex-col gap-1 rounded-md px-2 py-1.5 -outline-offset-2",
                call.id === callId ? "bg-accent-soft" : "hover:bg-hover",
              )}
            >
              <span className="flex items-center gap-2 text-sm">
                <StateDot state={call.status} word={null} />
                <span
                  className="min-w-0 flex-1 truncate"
                  title={`${call.tool} of ${formatServer(call.server)}`}
                >
                  <VisibleText text={call.tool} />
                </span>
                <span className="text-xs text-ink-soft tabular-nums">{formatDuration(call.duration_ms)}</span>
              </span>
              <span aria-hidden className="relative h-1 rounded-full bg-hover">
                <span
                  className={classes(
                    "absolute inset-y-0 rounded-full",
                    call.isError ? "bg-bad" : call.status === "success" ? "bg-accent" : "bg-idle",
                  )}
                  style={{
                    left: `${(bars[at]?.from ?? 0) * 100}%`,
                    width: `${(bars[at]?.width ?? 0) * 100}%`,
                  }}
                />
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </Card>
  );
}
