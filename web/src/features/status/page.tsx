import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { modelList } from "@/features/models/queries";
import { serverList } from "@/features/servers/queries";
import type { Schemas } from "@/shared/api/client";
import { useLineState } from "@/shared/events/events";
import { formatBytes, formatNumber } from "@/shared/format/format";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { StateDot } from "@/shared/ui/StateDot";
import { Facts } from "./Facts";
import { findingsOf } from "./findings";
import { Health } from "./Health";
import { status } from "./queries";
import { Storage } from "./Storage";

type Status = Schemas["Status"];

export default function StatusPage() {
  const found = useQuery(status);
  const servers = useQuery(serverList);
  const models = useQuery(modelList);
  const wrong = [found, servers, models].find((query) => query.isError);
  return (
    <Page title="Status" description="What runs, what is wrong and what to do, and how much is kept.">
      {wrong && (
        <ErrorState
          title="The status could not be read"
          error={wrong.error}
          onRetry={() => void wrong.refetch()}
        />
      )}
      {!wrong && !(found.data && servers.data && models.data) && <SkeletonRows />}
      {found.data && servers.data && models.data && (
        <>
          <Health findings={findingsOf({ status: found.data, servers: servers.data, models: models.data })} />
          <div className="grid gap-5 md:grid-cols-2 xl:grid-cols-3">
            <Hub status={found.data} />
            <Servers status={found.data} servers={servers.data} />
            <Work status={found.data} models={models.data} />
          </div>
          <Storage status={found.data} />
          <Versions status={found.data} />
        </>
      )}
    </Page>
  );
}

const More = ({ to, children }: { to: "/servers" | "/models"; children: ReactNode }) => (
  <Link to={to} className="text-sm text-accent-ink hover:underline">
    {children}
  </Link>
);

const LINE = { live: "connected", connecting: "connecting", gone: "error", signed_out: "needs_auth" };
const WORDS = { live: "Live", connecting: "Connecting", gone: "Not connected", signed_out: "Signed out" };

function Hub({ status }: { status: Status }) {
  const line = useLineState();
  return (
    <Facts
      title="Hub"
      facts={[
        ["Running since", <RelativeTime key="since" at={status.started_at} />],
        ["Event line", <StateDot key="line" state={LINE[line]} word={WORDS[line]} />],
        ["Windows and clients", formatNumber(status.listeners)],
        ["Last event", `#${formatNumber(status.seq)}`],
        ["Memory", formatBytes(status.rss)],
        ["Process", String(status.pid)],
      ]}
    />
  );
}

function Servers({ status, servers }: { status: Status; servers: readonly Schemas["Server"][] }) {
  const connected = servers.filter((server) => server.status === "connected");
  const tools = connected.reduce((sum, server) => sum + (server.tool_count ?? 0), 0);
  const memory = servers.reduce((sum, server) => sum + (server.rss ?? 0), 0);
  const states = Object.entries(status.servers).filter(([, count]) => count > 0);
  return (
    <Facts
      title="Servers"
      actions={<More to="/servers">Open</More>}
      facts={[
        ...states.map(
          ([state, count]) =>
            [<StateDot key={state} state={state} className="text-sm!" />, formatNumber(count)] as const,
        ),
        ["Tools that they lend", formatNumber(tools)],
        ...(memory > 0 ? ([["Memory of local ones", formatBytes(memory)]] as const) : []),
      ]}
    >
      {states.length === 0 && <p className="text-sm text-ink-faint">There are none yet.</p>}
    </Facts>
  );
}

function Work({ status, models }: { status: Status; models: readonly Schemas["Model"][] }) {
  const chosen = models.find((model) => model.default);
  return (
    <Facts
      title="Models and work"
      actions={<More to="/models">Open</More>}
      facts={[
        ["Models", formatNumber(models.length)],
        ["Default", chosen?.name ?? "–"],
        [
          "Approvals waiting",
          status.approvals > 0 ? (
            <Link key="waiting" to="/approvals" className="font-medium text-accent-ink hover:underline">
              {formatNumber(status.approvals)}
            </Link>
          ) : (
            "None"
          ),
        ],
        ["Calls under way", formatNumber(status.calls)],
      ]}
    />
  );
}

function Versions({ status }: { status: Status }) {
  const programs = Object.entries(status.programs).map(
    ([name, place]) => [name, place ?? "not found"] as [string, string],
  );
  return (
    <Facts
      title="Versions and places"
      facts={[
        ["Manyhands", status.version],
        ["Python", status.python],
        ["System", status.platform],
        ["Database", status.database === "postgresql" ? "PostgreSQL" : "SQLite"],
        ["Address", status.url ?? "–"],
        ["Home", status.home],
        ...programs,
      ]}
    />
  );
}
