/** What is wrong and what to do, from what the hub says of itself. The same bounds as `manyhands doctor`. Pure. */
import type { Schemas } from "@/shared/api/client";
import { formatBytes } from "@/shared/format/format";

export interface Finding {
  id: string;
  verdict: "note" | "warning" | "broken";
  text: string;
  fix: string;
  /** Where it can be mended. */
  to?: "/servers" | "/models" | "/approvals" | "/settings";
  go?: string;
}

interface Seen {
  status: Schemas["Status"];
  servers: readonly Schemas["Server"][];
  models: readonly Schemas["Model"][];
}

const LEAST_DISK = 500_000_000;
const names = (list: readonly { name: string }[]): string =>
  list.length > 4
    ? `${list
        .slice(0, 3)
        .map((one) => one.name)
        .join(", ")} and ${list.length - 3} more`
    : list.map((one) => one.name).join(", ");
const are = (count: number, one: string, many: string): string => (count === 1 ? one : many);

export function findingsOf(seen: Seen): Finding[] {
  return [
    ...ofServers(seen),
    ...ofModels(seen),
    ...ofDisk(seen),
    ...ofPrograms(seen),
    ...ofApprovals(seen),
  ].sort((one, other) => WEIGHT[one.verdict] - WEIGHT[other.verdict]);
}

const WEIGHT = { broken: 0, warning: 1, note: 2 };

function* ofServers({ servers }: Seen): Generator<Finding> {
  for (const server of servers) {
    const about = { to: "/servers" as const, go: "Open servers" };
    if (server.status === "error")
      yield {
        id: `error-${server.id}`,
        verdict: "broken",
        text: `${server.name} does not connect: ${server.error ?? "it gives no reason"}`,
        fix: "Look at its log, mend its command or address, then reconnect it.",
        ...about,
      };
    if (server.problem)
      yield {
        id: `problem-${server.id}`,
        verdict: "warning",
        text: `${server.name} is connected but not wholly usable: ${server.problem}`,
        fix: "Reconnect it; its log says more.",
        ...about,
      };
    if (!server.trusted)
      yield {
        id: `trust-${server.id}`,
        verdict: "note",
        text: `${server.name} comes from a project that you have not trusted.`,
        fix: "Answer the question in the inbox, or run: manyhands channels trust, with its directory.",
        to: "/approvals",
        go: "Open approvals",
      };
  }
  const asking = servers.filter((server) => server.status === "needs_auth");
  if (asking.length > 0)
    yield {
      id: "sign-in",
      verdict: "warning",
      text: `${names(asking)} ${are(asking.length, "needs", "need")} a sign-in.`,
      fix: "Sign in once; it is remembered.",
      to: "/servers",
      go: "Sign in",
    };
  const empty = servers.filter(
    (server) => server.status === "connected" && server.tool_count === 0 && !server.problem,
  );
  if (empty.length > 0)
    yield {
      id: "no-tools",
      verdict: "note",
      text: `${names(empty)} ${are(empty.length, "has", "have")} no tools.`,
      fix: "Some servers only offer prompts or resources; otherwise look at the log.",
      to: "/servers",
      go: "Open servers",
    };
}

function* ofModels({ models }: Seen): Generator<Finding> {
  if (models.length > 0 && models.every((model) => model.provider === "demo"))
    yield {
      id: "demo",
      verdict: "warning",
      text: "Only the demo model answers.",
      fix: "Add a model with a key, or start a model server on this machine.",
      to: "/models",
      go: "Add a model",
    };
}

function* ofDisk({ status }: Seen): Generator<Finding> {
  if (status.disk_free > LEAST_DISK) return;
  yield {
    id: "disk",
    verdict: status.disk_free > 0 ? "warning" : "broken",
    text: `Only ${formatBytes(status.disk_free)} are free on the disk of ${status.home}.`,
    fix: "Make room, or keep things for fewer days.",
    to: "/settings",
    go: "Change what is kept",
  };
}

function* ofPrograms({ status }: Seen): Generator<Finding> {
  const lacking = Object.entries(status.programs)
    .filter(([, place]) => place === null)
    .map(([name]) => name);
  if (lacking.length > 0)
    yield {
      id: "programs",
      verdict: "warning",
      text: `${lacking.join(", ")} ${are(lacking.length, "is", "are")} not found: servers that need ${are(lacking.length, "it", "them")} will not start.`,
      fix: `Put ${lacking.join(", ")} on the PATH and restart the hub.`,
    };
}

function* ofApprovals({ status }: Seen): Generator<Finding> {
  if (status.approvals > 0)
    yield {
      id: "approvals",
      verdict: "note",
      text: `${status.approvals} ${are(status.approvals, "question waits", "questions wait")} for you.`,
      fix: "Until you answer, what asks stands still.",
      to: "/approvals",
      go: "Answer",
    };
}

/** The state of everything in one line. */
export function verdictOf(findings: readonly Finding[]): { mood: "good" | "warn" | "bad"; text: string } {
  const broken = findings.filter((one) => one.verdict === "broken").length;
  const warnings = findings.filter((one) => one.verdict === "warning").length;
  if (broken > 0) return { mood: "bad", text: `${broken} ${are(broken, "thing is", "things are")} broken` };
  if (warnings > 0)
    return { mood: "warn", text: `It works, with ${warnings} ${are(warnings, "warning", "warnings")}` };
  return { mood: "good", text: "All is well" };
}
