import type { Schemas } from "@/shared/api/client";
import { formatNumber, formatServer } from "@/shared/format/format";
import { classes } from "@/shared/ui/classes";
import { VisibleText } from "@/shared/ui/VisibleText";
import { errorRates, percent } from "./plots";

interface ErrorRatesProps {
  servers: Schemas["CallStatistics"]["servers"];
  chosen?: string;
  /** Show the calls of this one. */
  onServer: (server: string) => void;
}

/** How often the calls of each server fail, as bars. */
export const ErrorRates = ({ servers, chosen, onServer }: ErrorRatesProps) => (
  <ul
    aria-label="Error rate by server"
    tabIndex={0}
    className="-mx-2 flex max-h-47.5 flex-col overflow-y-auto"
  >
    {errorRates(servers).map(({ server, rate, calls, errors }) => (
      <li key={server}>
        <button
          type="button"
          aria-pressed={server === chosen}
          onClick={() => onServer(server)}
          className={classes(
            "flex w-full flex-col gap-1.5 rounded-md px-2 py-2 text-left -outline-offset-2",
            server === chosen ? "bg-accent-soft" : "hover:bg-hover",
          )}
        >
          <span className="flex w-full items-baseline gap-3 text-sm">
            <span className="min-w-0 flex-1 truncate" title={formatServer(server)}>
              <VisibleText text={formatServer(server)} />
            </span>
            <span className="text-xs text-ink-soft tabular-nums">
              {formatNumber(errors)} of {formatNumber(calls)}
            </span>
            <span
              className={classes(
                "w-10 text-right font-medium tabular-nums",
                rate > 0 ? "text-bad-ink" : "text-ink-soft",
              )}
            >
              {percent(rate)}
            </span>
          </span>
          <span aria-hidden className="h-1.5 w-full overflow-hidden rounded-full bg-pressed">
            <span className="block h-full rounded-full bg-bad" style={{ width: `${rate * 100}%` }} />
          </span>
        </button>
      </li>
    ))}
  </ul>
);
