import { useMutation, useQuery } from "@tanstack/react-query";
import { ScrollText, Trash2 } from "lucide-react";
import { api, read, type Schemas } from "@/shared/api/client";
import { Badge, type Mood } from "@/shared/ui/Badge";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { VisibleText } from "@/shared/ui/VisibleText";
import { ruleList } from "./queries";

type Rule = Schemas["Rule"];
const MOODS: Record<Rule["effect"], Mood> = { allow: "good", ask: "warn", deny: "bad" };
const WORDS: Record<Rule["effect"], string> = { allow: "Allow", ask: "Ask", deny: "Deny" };

/** What was said for longer than once, and how to take it back. */
export function Rules() {
  const rules = useQuery(ruleList);
  if (rules.isPending) return <SkeletonRows />;
  if (rules.isError)
    return (
      <ErrorState
        title="The rules could not be read"
        error={rules.error}
        onRetry={() => void rules.refetch()}
      />
    );
  if (rules.data.length === 0)
    return (
      <EmptyState icon={<ScrollText />} title="No rules yet">
        When you allow something for a session or for always, it stands here and can be taken back.
      </EmptyState>
    );
  return (
    <ul
      aria-label="Rules"
      className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-raised shadow-sm"
    >
      {rules.data.map((rule) => (
        <Row key={rule.id} rule={rule} />
      ))}
    </ul>
  );
}

function Row({ rule }: { rule: Rule }) {
  const revoke = useMutation({
    mutationFn: () => read(api.DELETE("/api/rules/{rule_id}", { params: { path: { rule_id: rule.id } } })),
    onSuccess: () => toast("The rule is gone"),
    onError: toast.error,
  });
  return (
    <li className="flex items-center gap-3 px-4 py-2 text-sm">
      <span className="w-14 shrink-0">
        <Badge mood={MOODS[rule.effect]}>{WORDS[rule.effect]}</Badge>
      </span>
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="font-medium">
          <VisibleText text={ruleWords(rule)} />
        </span>
        {rule.note && (
          <span className="block text-xs text-ink-faint">
            <VisibleText text={rule.note} />
          </span>
        )}
      </span>
      <RelativeTime at={rule.created_at} className="text-xs text-ink-faint max-sm:hidden" />
      <IconButton
        label={`Take back: ${rule.description}`}
        icon={<Trash2 />}
        busy={revoke.isPending}
        onClick={() => revoke.mutate()}
      />
    </li>
  );
}

/* A name that was allowed as it is has its wildcards in brackets. */
const plain = (pattern: string): string => pattern.replace(/\[([*?[])\]/g, "$1");

/** A rule as a sentence without its verb, which stands beside it. */
export function ruleWords(
  rule: Pick<Rule, "tool" | "server" | "arguments" | "session_id" | "project">,
): string {
  const parts = [rule.tool ? plain(rule.tool) : "every tool"];
  if (rule.server) parts.push(`of ${plain(rule.server)}`);
  const given = Object.entries(rule.arguments);
  if (given.length > 0)
    parts.push(`with ${given.map(([key, value]) => `${key}=${String(value)}`).join(", ")}`);
  if (rule.session_id) parts.push("in one session");
  if (rule.project && rule.project !== "*") parts.push(`in ${rule.project}`);
  return parts.join(" ");
}
