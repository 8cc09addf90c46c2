/** A server while it is being written: what a form holds, where it comes from and what is sent. Pure. */
import type { Json, Server } from "./queries";

/** How the hub shows a secret; sent back, the secret is kept. */
export const MASK = "••••••";

export interface Pair {
  name: string;
  value: string;
}

export interface Draft {
  name: string;
  transport: Server["transport"];
  command: string;
  /** One argument per line. */
  args: string;
  env: Pair[];
  cwd: string;
  url: string;
  headers: Pair[];
  trust: Server["trust"];
  parallel: Server["parallel"];
  /** In seconds. */
  toolTimeout: string;
  connectTimeout: string;
}

export const EMPTY: Draft = {
  name: "",
  transport: "stdio",
  command: "",
  args: "",
  env: [],
  cwd: "",
  url: "",
  headers: [],
  trust: "ask",
  parallel: "all",
  toolTimeout: "30",
  connectTimeout: "30",
};

const pairs = (values: Record<string, string> | undefined): Pair[] =>
  Object.entries(values ?? {}).map(([name, value]) => ({ name, value }));

export const draftOf = (server: Server): Draft => ({
  name: server.name,
  transport: server.transport,
  command: server.command ?? "",
  args: (server.args ?? []).map(asLine).join("\n"),
  env: pairs(server.env),
  cwd: server.cwd ?? "",
  url: server.url ?? "",
  headers: pairs(server.headers),
  trust: server.trust,
  parallel: server.parallel,
  toolTimeout: String(server.tool_timeout / 1000),
  connectTimeout: String(server.connect_timeout / 1000),
});

// An argument that itself has line breaks, or looks quoted, is written as a JSON text.
const asLine = (argument: string): string =>
  argument === "" || /[\n\r]/.test(argument) || /^".*"$/.test(argument) ? JSON.stringify(argument) : argument;

export function argsOf(lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      if (!/^\s*".*"\s*$/.test(line)) return line.trim();
      try {
        return String(JSON.parse(line.trim()));
      } catch {
        return line.trim();
      }
    });
}

const named = (list: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(list.filter((pair) => pair.name.trim()).map((pair) => [pair.name.trim(), pair.value]));

const milliseconds = (seconds: string): number => Math.round(Number(seconds) * 1000);

/** What is sent. A part that belongs to the other transport goes as empty, which takes it away. */
export function bodyOf(draft: Draft): Json {
  const local = draft.transport === "stdio";
  return {
    name: draft.name.trim(),
    transport: draft.transport,
    command: local ? draft.command.trim() : "",
    args: local ? argsOf(draft.args) : [],
    cwd: local ? draft.cwd.trim() : "",
    env: named(draft.env),
    url: local ? "" : draft.url.trim(),
    headers: local ? {} : named(draft.headers),
    ...decisionsOf(draft),
  };
}

/** What a person decides about a server that a project's file describes. */
export const decisionsOf = (draft: Draft): Json => ({
  trust: draft.trust,
  parallel: draft.parallel,
  tool_timeout: milliseconds(draft.toolTimeout),
  connect_timeout: milliseconds(draft.connectTimeout),
});

export type Mistakes = Partial<Record<keyof Draft, string>>;

/** What can be said before anyone is asked; the rest says the hub. */
export function mistakesIn(draft: Draft): Mistakes {
  const found: Mistakes = {};
  if (!draft.name.trim()) found.name = "Give it a name; it becomes part of the names of its tools.";
  else if (draft.name.includes("__")) found.name = "Two underscores in a row are not allowed.";
  else if (/^\d+$/.test(draft.name.trim())) found.name = "A name of digits only would be taken for a number.";
  if (draft.transport === "stdio" && !draft.command.trim()) found.command = "Which program is started?";
  if (draft.transport !== "stdio" && !/^https?:\/\/\S+$|\$\{/.test(draft.url.trim()))
    found.url = "An address such as https://example.com/mcp is needed.";
  for (const key of ["toolTimeout", "connectTimeout"] as const) {
    const seconds = Number(draft[key]);
    if (!(seconds >= 0.001 && seconds <= 86_400)) found[key] = "Seconds, more than 0.";
  }
  return found;
}

/** A whole command line in the field of the command: its words. */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  const word = /(?:[^\s"']+|"((?:\\.|[^"\\])*)"|'([^']*)')+/g;
  for (const [found] of line.matchAll(word))
    words.push(
      found.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
        single === undefined ? (double ?? "").replace(/\\(.)/g, "$1") : single,
      ),
    );
  return words;
}

/** A command with its arguments as one line, for reading. */
export const commandLine = (command: string | null | undefined, args: readonly string[] = []): string =>
  [command ?? "", ...args].map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : quote(word))).join(" ");

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Where a server is: its command line or its address. */
export const placeOf = (server: Pick<Server, "transport" | "command" | "args" | "url">): string =>
  server.transport === "stdio" ? commandLine(server.command, server.args) : (server.url ?? "");
