import { Link } from "@tanstack/react-router";
import { CircleAlert, Folder, Globe, Terminal, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { formatBytes } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { StateDot } from "@/shared/ui/StateDot";
import { Tooltip } from "@/shared/ui/Tooltip";
import { VisibleText } from "@/shared/ui/VisibleText";
import { placeOf } from "./draft";
import type { Server } from "./queries";
import { ServerActions } from "./ServerActions";

export const TRANSPORTS: Record<Server["transport"], string> = {
  stdio: "stdio",
  http: "Streamable HTTP",
  sse: "SSE",
};

/** One server: what it is, how it stands, what went wrong. */
export function ServerRow({ server }: { server: Server }) {
  const Icon = server.transport === "stdio" ? Terminal : Globe;
  return (
    <li className="relative px-4 py-3.5 transition-colors duration-(--quick) hover:bg-hover/50">
      <div className="flex items-start gap-3.5">
        <span
          aria-hidden
          className="mt-0.5 grid size-9 shrink-0 place-items-center rounded-md bg-sunken text-ink-soft max-sm:hidden"
        >
          <Icon className="size-4.5" />
        </span>
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
            <Link
              to="/servers/$serverId"
              params={{ serverId: String(server.id) }}
              className="text-md font-semibold [overflow-wrap:anywhere] hover:underline"
            >
              <VisibleText text={server.name} />
            </Link>
            <ServerState server={server} />
          </div>
          <p
            title={placeOf(server)}
            className="mt-0.5 line-clamp-2 font-mono text-xs text-ink-soft [overflow-wrap:anywhere]"
          >
            <VisibleText text={placeOf(server)} />
          </p>
          <Marks server={server} />
        </div>
        <ServerActions server={server} />
      </div>
      <Troubles server={server} className="mt-3 sm:ml-12.5" />
    </li>
  );
}

/** The state in words, with what is known about the next attempt. */
export function ServerState({ server }: { server: Server }) {
  const tries = server.attempt && server.attempts_max ? ` (${server.attempt} of ${server.attempts_max})` : "";
  const held = server.status === "disconnected" && server.held ? "Disconnected by you" : undefined;
  const trying = server.status === "connecting" && tries ? `Connecting${tries}` : undefined;
  return <StateDot state={server.status} word={held ?? trying} />;
}

const Fact = ({ children, title }: { children: ReactNode; title?: string }) => (
  <span title={title} className="whitespace-nowrap">
    {children}
  </span>
);

function Marks({ server }: { server: Server }) {
  const process = server.transport === "stdio" && server.status === "connected";
  return (
    <p className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
      <ToolCount server={server} />
      <Fact>{TRANSPORTS[server.transport]}</Fact>
      {server.protocol && <Fact title="Version of the protocol">Protocol {server.protocol}</Fact>}
      {process && server.pid && <Fact>pid {server.pid}</Fact>}
      {process && server.rss && <Fact title="Memory of its processes">{formatBytes(server.rss)}</Fact>}
      {server.restarts > 0 && (
        <Fact>
          {server.restarts} {server.restarts === 1 ? "restart" : "restarts"}
        </Fact>
      )}
      {server.exit_code != null && <Fact>exit code {server.exit_code}</Fact>}
      {server.project && (
        <Badge icon={<Folder />} title={server.project} className="max-w-full">
          <span className="truncate">{server.project}</span>
        </Badge>
      )}
      {server.trust !== "ask" && (
        <Badge mood={server.trust === "full" ? "warn" : "neutral"}>
          {server.trust === "full" ? "Full trust" : "Trusted"}
        </Badge>
      )}
    </p>
  );
}

/** None at all is worth a look: nothing of it can be used. */
export function ToolCount({ server }: { server: Server }) {
  if (server.tool_count === 0 && !["disabled", "connecting"].includes(server.status))
    return (
      <Tooltip text="Nothing of it can be used: look at its log.">
        <span>
          <Badge mood="warn" icon={<TriangleAlert />}>
            0 tools
          </Badge>
        </span>
      </Tooltip>
    );
  return (
    <Fact>
      <span className="font-medium text-ink-soft">{server.tool_count}</span>{" "}
      {server.tool_count === 1 ? "tool" : "tools"}
    </Fact>
  );
}

/** What is wrong, in full. */
export function Troubles({ server, className = "" }: { server: Server; className?: string }) {
  const trust =
    server.trusted === false ? "Its project's file is not approved as it is now: look into Approvals." : null;
  const error = server.status === "disabled" ? null : server.error;
  if (!error && !server.problem && !trust) return null;
  return (
    <div className={`flex flex-col gap-2 ${className}`}>
      {error && (
        <Trouble mood={server.status === "needs_auth" ? "warn" : "bad"}>
          <VisibleText text={error} />
        </Trouble>
      )}
      {server.problem && (
        <Trouble mood="warn">
          <VisibleText text={server.problem} />
        </Trouble>
      )}
      {trust && <Trouble mood="warn">{trust}</Trouble>}
    </div>
  );
}

function Trouble({ mood, children }: { mood: "bad" | "warn"; children: ReactNode }) {
  return (
    <div
      className={`flex items-start gap-2.5 rounded-md px-3 py-2 text-xs ${mood === "bad" ? "bg-bad-soft" : "bg-warn-soft"}`}
    >
      <CircleAlert
        aria-hidden
        className={`mt-0.5 size-3.5 shrink-0 ${mood === "bad" ? "text-bad" : "text-warn-ink"}`}
      />
      <p className="min-w-0 whitespace-pre-wrap text-ink [overflow-wrap:anywhere]">{children}</p>
    </div>
  );
}
