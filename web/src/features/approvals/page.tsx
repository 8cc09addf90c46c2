import { useQuery } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import { useState } from "react";
import { NotifyCard } from "@/features/notifications/NotifyCard";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Tabs } from "@/shared/ui/Tabs";
import { ApprovalCard } from "./ApprovalCard";
import { History } from "./History";
import { pendingApprovals, ruleList } from "./queries";
import { Rules } from "./Rules";

type View = "waiting" | "answered" | "rules";

export default function ApprovalsPage() {
  const [view, setView] = useState<View>("waiting");
  const waiting = useQuery(pendingApprovals);
  const rules = useQuery(ruleList);
  return (
    <Page title="Approvals" description="Everything that waits for your word.">
      <Tabs
        label="Approvals"
        value={view}
        onChange={setView}
        tabs={[
          { value: "waiting", label: "Waiting", count: waiting.data?.length, content: <Waiting /> },
          { value: "answered", label: "Answered", content: <History /> },
          { value: "rules", label: "Rules", count: rules.data?.length, content: <Rules /> },
        ]}
      />
    </Page>
  );
}

/** The inbox: the oldest first, since it is the one that expires first and whoever asked waits longest. */
function Waiting() {
  const waiting = useQuery(pendingApprovals);
  if (waiting.isPending) return <SkeletonRows />;
  if (waiting.isError)
    return (
      <ErrorState
        title="The inbox could not be read"
        error={waiting.error}
        onRetry={() => void waiting.refetch()}
      />
    );
  return (
    <div className="flex max-w-(--column-width) flex-col gap-4">
      <NotifyCard />
      {waiting.data.length === 0 ? (
        <EmptyState icon={<Inbox />} title="Nothing waits for you">
          When a tool wants to do something that needs your word, or a server asks you something, it shows up
          here and in its conversation.
        </EmptyState>
      ) : (
        waiting.data.toReversed().map((approval) => <ApprovalCard key={approval.id} approval={approval} />)
      )}
    </div>
  );
}
