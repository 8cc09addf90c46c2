import { Badge, type Mood } from "@/shared/ui/Badge";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import type { Approval } from "./question";
import { SpelledText } from "./SpelledText";

const MOODS: Record<Approval["state"], Mood> = {
  pending: "warn",
  approved: "good",
  rejected: "bad",
  expired: "neutral",
  cancelled: "neutral",
};
const SCOPES: Record<string, string> = {
  session: "for the session",
  tool: "always, this tool",
  server: "always, this server",
};

/** How it ended, in two or three words. */
export function outcomeWords({ kind, state, scope }: Pick<Approval, "kind" | "state" | "scope">): string {
  if (state === "pending") return "Waits for you";
  if (kind === "workflow" && state === "approved") return "Approved";
  if (kind === "workflow" && state === "rejected") return "Rejected";
  if (state === "approved") return scope && SCOPES[scope] ? `Allowed ${SCOPES[scope]}` : "Allowed once";
  if (state === "rejected") return "Denied";
  return state === "expired" ? "Expired" : "Taken back";
}

export const OutcomeBadge = ({ approval }: { approval: Approval }) => (
  <Badge mood={MOODS[approval.state]}>{outcomeWords(approval)}</Badge>
);

/** What is left of an answered question: one line. */
export const Outcome = ({ approval }: { approval: Approval }) => (
  <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1 rounded-lg border border-line bg-raised px-4 py-2.5 text-sm">
    <OutcomeBadge approval={approval} />
    <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
      <SpelledText text={approval.title} />
      {approval.reason && (
        <span className="text-ink-soft">
          {" — "}
          <SpelledText text={approval.reason} />
        </span>
      )}
    </span>
    <RelativeTime at={approval.resolved_at} className="text-xs text-ink-faint" />
  </div>
);
