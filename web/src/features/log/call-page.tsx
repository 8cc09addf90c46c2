import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft, ListTree, MessageSquare } from "lucide-react";
import type { ReactNode } from "react";
import { channelList } from "@/features/chat/queries";
import { ApiError } from "@/shared/api/client";
import { formatBytes, formatDuration, formatFullTime } from "@/shared/format/format";
import { buttonClasses } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { CopyButton } from "@/shared/ui/CopyButton";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { JsonView } from "@/shared/ui/JsonView";
import { Page } from "@/shared/ui/Page";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { StateDot } from "@/shared/ui/StateDot";
import { VisibleText } from "@/shared/ui/VisibleText";
import { CallResult } from "./CallResult";
import { Elapsed } from "./CallTable";
import { type Call, callById } from "./queries";
import { RunCalls } from "./RunCalls";

const Back = () => (
  <Link
    to="/log"
    search={{} as never}
    className="mb-1.5 inline-flex items-center gap-1.5 text-sm text-ink-soft hover:text-ink"
  >
    <ArrowLeft aria-hidden className="size-4" /> All calls
  </Link>
);

export default function CallPage() {
  const { callId } = useParams({ from: "/log/$callId" });
  const found = useQuery(callById(callId));
  if (found.isError && found.error instanceof ApiError && found.error.status === 404) return <Gone />;
  if (!found.data)
    return (
      <Page title="Call" above={<Back />}>
        {found.isError ? (
          <ErrorState
            title="The call could not be read"
            error={found.error}
            onRetry={() => void found.refetch()}
          />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  const call = found.data;
  return (
    <Page
      title={<VisibleText text={call.tool} />}
      description={
        <>
          <StateDot state={call.status} className="mr-3 text-sm!" />
          <Server call={call} />
        </>
      }
      above={<Back />}
      actions={
        call.channel_id && (
          <Link to="/c/$channelId" params={{ channelId: call.channel_id }} className={buttonClasses()}>
            <MessageSquare aria-hidden />
            Conversation
          </Link>
        )
      }
    >
      <Facts call={call} />
      <div
        className={classes(
          "grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-5",
          call.run_id !== null && "lg:grid-cols-[minmax(0,1fr)_20rem]",
        )}
      >
        <div className="flex min-w-0 flex-col gap-5">
          <Card title="Arguments">
            {Object.keys(call.arguments).length > 0 ? (
              <JsonView value={call.arguments} label="Arguments" depth={4} />
            ) : (
              <p className="text-sm text-ink-faint">It took none.</p>
            )}
          </Card>
          <CallResult call={call} />
        </div>
        {call.run_id && <RunCalls runId={call.run_id} callId={call.id} />}
      </div>
    </Page>
  );
}

const Gone = () => (
  <EmptyState
    icon={<ListTree />}
    title="This call is not in the log"
    action={
      <Link to="/log" search={{} as never} className={buttonClasses("primary")}>
        Go to the log
      </Link>
    }
  >
    Calls are kept for a time only; how long is a setting under “What is kept”.
  </EmptyState>
);

const Server = ({ call }: { call: Call }) =>
  call.server_id === null ? (
    <>a tool of the hub itself</>
  ) : (
    <>
      of{" "}
      <Link
        to="/servers/$serverId"
        params={{ serverId: String(call.server_id) }}
        className="font-medium text-ink underline-offset-2 hover:underline"
      >
        <VisibleText text={call.server} />
      </Link>
    </>
  );

function Facts({ call }: { call: Call }) {
  const channels = useQuery(channelList).data ?? [];
  const channel = channels.find((one) => one.id === call.channel_id)?.name ?? call.channel_id;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border border-line bg-raised px-4 py-3.5 shadow-sm sm:grid-cols-3 lg:grid-cols-6">
      <Fact name="When">
        <RelativeTime at={call.at} />
        <span className="block text-xs text-ink-faint">{formatFullTime(call.at)}</span>
      </Fact>
      <Fact name="Took">
        {call.status === "pending" ? <Elapsed since={call.at} /> : formatDuration(call.duration_ms)}
      </Fact>
      <Fact name="Size of the result">{formatBytes(call.size)}</Fact>
      <Fact name="Channel">{channel ? <VisibleText text={channel} /> : "none: called directly"}</Fact>
      <Fact name="Iteration">{call.iteration ?? "–"}</Fact>
      <Fact name="Call id">
        <span className="flex items-center gap-1">
          <code className="truncate text-xs" title={call.id}>
            {call.id}
          </code>
          <CopyButton text={call.id} label="Copy the call id" />
        </span>
      </Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-xs text-ink-faint">{name}</dt>
    <dd className="mt-0.5 text-sm [overflow-wrap:anywhere]">{children}</dd>
  </div>
);
