import { useQuery } from "@tanstack/react-query";
import { modelList } from "@/features/models/queries";
import { formatCompact, formatNumber } from "@/shared/format/format";
import { Tooltip } from "@/shared/ui/Tooltip";
import type { Channel, Message } from "./queries";

/** Tokens that the last request held, with its answer: about what the next one begins with. */
export function usedTokens(messages: readonly Message[]): number {
  const last = messages.findLast((one) => one.role === "assistant" && one.usage);
  const usage = last?.usage as { input?: number; output?: number } | undefined;
  return (usage?.input ?? 0) + (usage?.output ?? 0);
}

const ROUND = 2 * Math.PI * 6.5;

/** How full the model's context is. */
export function ContextGauge({
  channel,
  messages,
}: {
  channel: Channel | undefined;
  messages: readonly Message[];
}) {
  const models = useQuery(modelList).data ?? [];
  const model = models.find((one) =>
    channel?.model ? one.id === channel.model || one.name === channel.model : one.default,
  );
  const used = usedTokens(messages);
  if (!model?.context || used === 0) return null;
  const share = Math.min(1, used / model.context);
  const percent = Math.round(share * 100);
  const tone = share > 0.85 ? "stroke-bad" : share > 0.6 ? "stroke-warn" : "stroke-accent";
  const words = `${formatNumber(used)} of ${formatNumber(model.context)} tokens of the context used (${percent} %)`;
  return (
    <Tooltip text={words} side="bottom">
      <button
        type="button"
        className="flex cursor-default! items-center gap-1.5 rounded-sm px-1.5 py-1 text-xs text-ink-faint tabular-nums hover:bg-hover"
      >
        <svg viewBox="0 0 16 16" aria-hidden className="size-4 -rotate-90" fill="none" strokeWidth="2.5">
          <circle cx="8" cy="8" r="6.5" className="stroke-line-strong" />
          <circle
            cx="8"
            cy="8"
            r="6.5"
            strokeLinecap="round"
            className={tone}
            strokeDasharray={`${Math.max(0.4, share * ROUND)} ${ROUND}`}
          />
        </svg>
        <span className="sr-only">Context: {words}</span>
        <span aria-hidden className="max-sm:hidden">
          {formatCompact(used)} / {formatCompact(model.context)}
        </span>
      </button>
    </Tooltip>
  );
}
