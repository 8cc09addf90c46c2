import type { ReactNode } from "react";
import { formatBytes, formatDuration } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { Card } from "@/shared/ui/Card";
import { CopyButton } from "@/shared/ui/CopyButton";
import { classes } from "@/shared/ui/classes";
import { JsonView } from "@/shared/ui/JsonView";
import { Markdown } from "@/shared/ui/Markdown";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { VisibleText } from "@/shared/ui/VisibleText";
import { ChannelPush, takesPart } from "./ChannelPush";
import { commandLine } from "./draft";
import type { Server } from "./queries";
import { TRANSPORTS } from "./ServerRow";

interface FactProps {
  name: string;
  wide?: boolean;
  children: ReactNode;
}

const Fact = ({ name, wide, children }: FactProps) => (
  <div className={classes("flex min-w-0 flex-col gap-0.5", wide && "col-span-full")}>
    <dt className="text-xs text-ink-faint">{name}</dt>
    <dd className="text-sm [overflow-wrap:anywhere]">{children}</dd>
  </div>
);

/** How its process and its connection are, at a glance. */
export function Vitals({ server }: { server: Server }) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border border-line bg-raised px-4 py-3.5 shadow-sm sm:grid-cols-4 lg:grid-cols-[repeat(8,auto)] lg:justify-between">
      <Fact name="Transport">{TRANSPORTS[server.transport]}</Fact>
      <Fact name="Protocol">{server.protocol ?? "–"}</Fact>
      <Fact name="Version">{server.version ?? "–"}</Fact>
      <Fact name="Since">
        <RelativeTime at={server.since} />
      </Fact>
      {server.transport === "stdio" ? (
        <>
          <Fact name="Process">{server.pid ? `pid ${server.pid}` : "none"}</Fact>
          <Fact name="Memory">{formatBytes(server.rss)}</Fact>
          <Fact name="Exit code">{server.exit_code ?? "–"}</Fact>
        </>
      ) : (
        <Fact name="Connected in">{formatDuration(server.connect_ms)}</Fact>
      )}
      <Fact name="Restarts">{server.restarts}</Fact>
    </dl>
  );
}

/** Its configuration and what it says of itself. */
export function About({ server }: { server: Server }) {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card title="Configuration">
        <Configuration server={server} />
      </Card>
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="Instructions" description="What it tells every model.">
          {server.instructions ? (
            <div className="max-h-96 overflow-y-auto text-sm" tabIndex={0}>
              <Markdown text={server.instructions} />
            </div>
          ) : (
            <p className="text-sm text-ink-soft">It gives none.</p>
          )}
        </Card>
        {takesPart(server) && <ChannelPush server={server} />}
        <Card title="Capabilities">
          <Capabilities server={server} />
        </Card>
        {server.repairs && server.repairs.length > 0 && <Repairs server={server} />}
      </div>
    </div>
  );
}

const TRUST = { ask: "Asks for every call", trusted: "Trusted", full: "Full trust" };
const PARALLEL = { all: "All", read_only: "Only those that read", none: "None" };

function Configuration({ server }: { server: Server }) {
  const line = commandLine(server.command, server.args);
  return (
    <dl className="grid grid-cols-2 gap-3">
      {server.transport === "stdio" ? (
        <>
          <Fact wide name="Command">
            <span className="flex items-start gap-1">
              <code className="min-w-0 flex-1">
                <VisibleText text={line} />
              </code>
              <CopyButton text={line} label="Copy the command" className="-my-1" />
            </span>
          </Fact>
          <Secrets name="Environment" values={server.env} />
          <Fact wide name="Working directory">
            {server.cwd ? <code>{server.cwd}</code> : "The hub's own"}
          </Fact>
        </>
      ) : (
        <>
          <Fact wide name="URL">
            <code>
              <VisibleText text={server.url ?? ""} />
            </code>
          </Fact>
          <Secrets name="Headers" values={server.headers} />
        </>
      )}
      {server.project && (
        <Fact wide name="Described by">
          <code>{server.project}/.mcp.json</code>
        </Fact>
      )}
      <Fact name="Trust">{TRUST[server.trust]}</Fact>
      <Fact name="Calls side by side">{PARALLEL[server.parallel]}</Fact>
      <Fact name="Time for a call">{formatDuration(server.tool_timeout)}</Fact>
      <Fact name="Time to connect">{formatDuration(server.connect_timeout)}</Fact>
    </dl>
  );
}

function Secrets({ name, values }: { name: string; values?: Record<string, string> }) {
  const names = Object.entries(values ?? {});
  if (names.length === 0) return null;
  return (
    <Fact wide name={name}>
      <span className="flex flex-col font-mono text-xs">
        {names.map(([key, value]) => (
          <span key={key}>
            {key} <span className="text-ink-faint">= {value}</span>
          </span>
        ))}
      </span>
    </Fact>
  );
}

function Capabilities({ server }: { server: Server }) {
  const names = Object.keys(server.capabilities ?? {});
  if (names.length === 0) return <p className="text-sm text-ink-soft">None are known yet.</p>;
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap gap-1.5">
        {names.map((name) => (
          <Badge key={name}>{name}</Badge>
        ))}
      </p>
      <JsonView value={server.capabilities} depth={1} label="Capabilities" />
    </div>
  );
}

const Repairs = ({ server }: { server: Server }) => (
  <Card title="Mended" description="What in its lists had to be mended or left out.">
    <ul className="flex flex-col gap-2 text-sm">
      {server.repairs?.map((repair, place) => (
        <li key={place} className="[overflow-wrap:anywhere]">
          <code>
            <VisibleText text={repair.item} />
          </code>
          : {repair.problem} <span className="text-ink-faint">({repair.action})</span>
        </li>
      ))}
    </ul>
  </Card>
);
