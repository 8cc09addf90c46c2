/** What an approval asks, read from its `detail`. Details come from strangers in part: nothing in them is trusted to be there. */
import type { Schemas } from "@/shared/api/client";

export type Approval = Schemas["Approval"];
export type Scope = Schemas["ApprovalAnswer"]["scope"] & string;
type Json = Record<string, unknown>;

export interface ProposedServer {
  name: string;
  /** The command line or the address. */
  runs: string;
  change: string;
  rest: Json;
}

export type Question =
  | {
      kind: "tool";
      tool: string;
      server: string;
      native: boolean;
      description: string;
      argumentsText: string;
      argumentsSize: number;
      argumentsCut: boolean;
      readOnly: boolean;
      destructive: boolean;
      diff: string | null;
    }
  | { kind: "project"; directory: string; servers: ProposedServer[] }
  | {
      kind: "form";
      server: string;
      tool: string | null;
      message: string;
      schema: Json;
      problem: string | null;
    }
  | { kind: "url"; server: string; tool: string | null; message: string; url: string }
  | { kind: "sampling"; server: string; tool: string | null; system: string; messages: Spoken[]; rest: Json }
  | { kind: "budget"; of: string; spent: number; cap: number; raiseBy: number; why: string }
  | { kind: "other"; detail: Json };

export interface Spoken {
  role: string;
  text: string;
  /** What is not text, in words. */
  other: string[];
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value ? value : null);
const number = (value: unknown): number => (typeof value === "number" ? value : 0);

export function questionOf(approval: Pick<Approval, "kind" | "detail">): Question {
  const detail = approval.detail as Json;
  if (approval.kind === "tool" && Array.isArray(detail.servers)) return projectOf(detail, detail.servers);
  if (approval.kind === "tool" && typeof detail.tool === "string") return toolOf(detail);
  if (approval.kind === "elicitation") return elicitationOf(detail);
  if (approval.kind === "sampling") return samplingOf(detail);
  if (approval.kind === "budget")
    return {
      kind: "budget",
      of: text(detail.of),
      spent: number(detail.spent),
      cap: number(detail.cap),
      raiseBy: number(detail.raise_by),
      why: text(detail.why),
    };
  return { kind: "other", detail };
}

function toolOf(detail: Json): Question {
  const hints = isObject(detail.annotations) ? detail.annotations : {};
  const exact = textOrNull(detail.arguments_text) ?? JSON.stringify(detail.arguments ?? {}, null, 2);
  return {
    kind: "tool",
    tool: text(detail.tool),
    server: text(detail.server),
    native: !text(detail.full_name).startsWith("mcp__"),
    description: text(detail.description),
    argumentsText: exact,
    argumentsSize: number(detail.arguments_size) || exact.length,
    argumentsCut: detail.arguments_cut === true,
    readOnly: hints.readOnlyHint === true,
    destructive: detail.says_destructive === true,
    diff: textOrNull(detail.diff),
  };
}

function projectOf(detail: Json, servers: unknown[]): Question {
  return {
    kind: "project",
    directory: text(detail.directory),
    servers: servers.filter(isObject).map(({ name, change, ...rest }) => ({
      name: text(name),
      change: text(change),
      runs:
        text(rest.url) || [rest.command, ...(Array.isArray(rest.args) ? rest.args : [])].map(text).join(" "),
      rest,
    })),
  };
}

function elicitationOf(detail: Json): Question {
  const common = {
    server: text(detail.server),
    tool: textOrNull(detail.tool),
    message: text(detail.message),
  };
  if (detail.mode === "url" && typeof detail.url === "string")
    return { kind: "url", ...common, url: detail.url };
  const schema = isObject(detail.schema) ? detail.schema : {};
  return { kind: "form", ...common, schema, problem: textOrNull(detail.problem) };
}

function samplingOf(detail: Json): Question {
  const { server, tool, messages, systemPrompt, ...rest } = detail;
  return {
    kind: "sampling",
    server: text(server),
    tool: textOrNull(tool),
    system: text(systemPrompt),
    messages: (Array.isArray(messages) ? messages : []).filter(isObject).map(spokenOf),
    rest,
  };
}

function spokenOf(message: Json): Spoken {
  const content = Array.isArray(message.content) ? message.content : [message.content];
  const blocks = content.filter(isObject);
  return {
    role: text(message.role) || "user",
    text: blocks
      .map((block) => text(block.text))
      .filter(Boolean)
      .join("\n"),
    other: blocks
      .filter((block) => block.type !== "text")
      .map((block) => [text(block.type), text(block.mimeType)].filter(Boolean).join(" ")),
  };
}

/** Why it is asked, in the hub's words. */
export const reasonOf = (approval: Pick<Approval, "detail">): string =>
  text((approval.detail as Json).reason);

/** What a yes may hold for; one entry when there is nothing to choose. */
export function scopesOf(approval: Pick<Approval, "detail">): Scope[] {
  const given = (approval.detail as Json).scopes;
  const known: Scope[] = ["once", "session", "tool", "server"];
  return Array.isArray(given) ? known.filter((scope) => given.includes(scope)) : ["once"];
}
