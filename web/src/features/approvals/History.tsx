import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, History as HistoryIcon } from "lucide-react";
import { useState } from "react";
import { Button } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { JsonView } from "@/shared/ui/JsonView";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { OutcomeBadge } from "./Outcome";
import { pastApprovals } from "./queries";
import { type Approval, questionOf } from "./question";
import { SpelledText } from "./SpelledText";
import { ExactText } from "./ToolQuestion";

/** What was answered, by whom it was not, and how; newest first. */
export function History() {
  const past = useInfiniteQuery(pastApprovals);
  if (past.isPending) return <SkeletonRows />;
  if (past.isError)
    return (
      <ErrorState
        title="The history could not be read"
        error={past.error}
        onRetry={() => void past.refetch()}
      />
    );
  const answered = past.data.pages.flatMap((page) => page.items).filter((one) => one.state !== "pending");
  if (answered.length === 0 && !past.hasNextPage)
    return (
      <EmptyState icon={<HistoryIcon />} title="Nothing has been answered yet">
        What you allow and deny is kept here, with what it was about.
      </EmptyState>
    );
  return (
    <div className="flex flex-col items-start gap-4">
      <ul
        aria-label="Answered"
        className="w-full divide-y divide-line overflow-hidden rounded-lg border border-line bg-raised shadow-sm"
      >
        {answered.map((approval) => (
          <Row key={approval.id} approval={approval} />
        ))}
      </ul>
      {past.hasNextPage && (
        <Button busy={past.isFetchingNextPage} onClick={() => void past.fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </div>
  );
}

function Row({ approval }: { approval: Approval }) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-start gap-2.5 px-4 py-2.5 text-left text-sm -outline-offset-2 hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={classes("mt-0.5 size-4 shrink-0 text-ink-faint", open && "rotate-90")}
        />
        <span className="flex min-w-0 flex-1 flex-col gap-1 sm:flex-row sm:items-start sm:gap-3">
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            <SpelledText text={approval.title} />
            {approval.reason && (
              <span className="block text-xs text-ink-faint">
                <SpelledText text={approval.reason} />
              </span>
            )}
          </span>
          <span className="flex shrink-0 items-center gap-3">
            <OutcomeBadge approval={approval} />
            <RelativeTime
              at={approval.resolved_at}
              className="text-xs text-ink-faint sm:w-24 sm:text-right"
            />
          </span>
        </span>
      </button>
      {open && <Details approval={approval} />}
    </li>
  );
}

function Details({ approval }: { approval: Approval }) {
  const question = questionOf(approval);
  return (
    <div className="flex flex-col gap-3 px-4 pb-4 pl-10.5">
      {question.kind === "tool" ? (
        <ExactText text={question.argumentsText} label="Arguments" />
      ) : (
        <JsonView value={approval.detail} label="What was asked" depth={1} />
      )}
      {approval.response != null && <JsonView value={approval.response} label="What was answered" />}
      <div className="flex gap-4 text-xs">
        {approval.call_id && (
          <Link
            to="/log/$callId"
            params={{ callId: approval.call_id }}
            className="text-accent-ink hover:underline"
          >
            The call in the log
          </Link>
        )}
        {approval.channel_id && (
          <Link
            to="/c/$channelId"
            params={{ channelId: approval.channel_id }}
            className="text-accent-ink hover:underline"
          >
            The conversation
          </Link>
        )}
      </div>
    </div>
  );
}
