/**
 * A conversation as the rows of a page. Pure: from messages, runs, calls and open questions to what stands under what.
 *
 * Neighbouring calls are one row; what failed, waits or asks stands alone and is never folded away.
 */
import type { Approval, CallLine, Message, Run } from "./queries";

export type CallState = "pending" | "waiting" | "success" | "error" | "timeout" | "cancelled" | "denied";

export interface CallItem {
  /** Its id in the call log. */
  id: string;
  tool: string;
  /** Null for tools of the hub itself. */
  server: string | null;
  arguments: string;
  state: CallState;
  durationMs: number | null;
  size: number | null;
  error: string | null;
  startedAt: string | null;
  /** What the model was given, where the call log does not have it. */
  result: Message | null;
  approval: Approval | null;
}

export type Row =
  | { kind: "day"; key: string; at: string }
  | { kind: "user"; key: string; message: Message }
  | { kind: "answer"; key: string; message: Message | null; runId: string | null; iteration: number }
  | { kind: "calls"; key: string; calls: CallItem[]; working: boolean }
  | { kind: "approval"; key: string; approval: Approval }
  | { kind: "note"; key: string; message: Message }
  | { kind: "working"; key: string; run: Run; waiting: boolean }
  | { kind: "closing"; key: string; run: Run };

export interface Thread {
  /** Oldest first, without those that are queued. */
  messages: readonly Message[];
  runs: ReadonlyMap<string, Run>;
  calls: ReadonlyMap<string, CallLine>;
  approvals: readonly Approval[];
  /** Whether the running model says something that is not stored yet. */
  speaks: boolean;
}

const ENDED = new Set(["completed", "failed", "cancelled", "max_iterations"]);
export const isEnded = (run: Run): boolean => ENDED.has(run.status);

const NATIVE = new Set(["manyhands", "native", ""]);

/** `mcp__server__tool` as its two names. */
export function splitName(name: string): { tool: string; server: string | null } {
  const found = /^mcp__(.+?)__(.+)$/.exec(name);
  return found ? { server: found[1] ?? null, tool: found[2] ?? name } : { server: null, tool: name };
}

/** The run that goes on, or the next one of the queue. */
export function openRun(runs: Iterable<Run>): Run | undefined {
  const open = [...runs].filter((run) => !isEnded(run)).sort((a, b) => (a.id < b.id ? -1 : 1));
  return open.find((run) => run.status !== "queued") ?? open[0];
}

/** The last iteration of a run whose reply is stored. */
export const storedIteration = (messages: readonly Message[], runId: string | undefined): number =>
  messages.reduce(
    (last, one) =>
      one.run_id === runId && one.role === "assistant" ? Math.max(last, one.iteration ?? 0) : last,
    0,
  );

const callState = (
  line: CallLine | undefined,
  result: Message | null,
  asks: boolean,
  open: boolean,
): CallState => {
  if (asks) return "waiting";
  if (line && line.status !== "pending") return line.status as CallState;
  if (result) return result.is_error ? "error" : "success";
  return open ? "pending" : "cancelled";
};

export const standsAlone = (call: CallItem): boolean =>
  call.state === "waiting" || call.state === "error" || call.state === "timeout" || call.state === "denied";

export function buildRows(thread: Thread): Row[] {
  return new Builder(thread).build();
}

class Builder {
  readonly #rows: Row[] = [];
  #group: Extract<Row, { kind: "calls" }> | null = null;
  #lastDay = "";
  readonly #used = new Set<string>();
  readonly #byCall: Map<string | null, Approval>;

  constructor(readonly thread: Thread) {
    this.#byCall = new Map(thread.approvals.map((one) => [one.call_id, one]));
  }

  build(): Row[] {
    const { messages } = this.thread;
    for (let place = 0; place < messages.length; place += 1) {
      const message = messages[place] as Message;
      this.#day(message.at);
      if (message.role === "user") this.#push({ kind: "user", key: message.id, message });
      else if (message.role === "system") this.#push({ kind: "note", key: message.id, message });
      else if (message.role === "assistant") this.#answer(message, place);
      this.#close(message, messages[place + 1]);
    }
    this.#end();
    return this.#rows;
  }

  #push(row: Row): void {
    this.#group = null;
    this.#rows.push(row);
  }

  #day(at: string): void {
    const day = new Date(at).toDateString();
    if (day === this.#lastDay) return;
    this.#lastDay = day;
    this.#push({ kind: "day", key: `day:${at}`, at });
  }

  #answer(message: Message, place: number): void {
    const iteration = message.iteration ?? 0;
    if (message.content !== "" || message.thinking !== "") {
      const key = message.run_id ? answerKey(message.run_id, iteration) : message.id;
      this.#push({ kind: "answer", key, message, runId: message.run_id ?? null, iteration });
    }
    const results = this.#resultsAfter(place);
    const run = message.run_id ? this.thread.runs.get(message.run_id) : undefined;
    for (const asked of message.tool_calls) {
      const given = asked as { id: string; name: string; arguments: string; call_id: string };
      this.#call(this.#item(given, results.get(given.id) ?? null, run !== undefined && !isEnded(run)));
    }
  }

  /** Ids of calls are unique within their reply only. */
  #resultsAfter(place: number): Map<string, Message> {
    const found = new Map<string, Message>();
    for (const message of this.thread.messages.slice(place + 1, place + 200)) {
      if (message.role === "assistant") break;
      if (message.role === "tool" && message.tool_call_id) found.set(message.tool_call_id, message);
    }
    return found;
  }

  #item(
    asked: { name: string; arguments: string; call_id: string },
    result: Message | null,
    open: boolean,
  ): CallItem {
    const line = this.thread.calls.get(asked.call_id);
    const approval = this.#byCall.get(asked.call_id) ?? null;
    const named = splitName(asked.name);
    const server = line ? (NATIVE.has(line.server) ? null : line.server) : named.server;
    return {
      id: asked.call_id,
      tool: line?.tool ?? named.tool,
      server,
      arguments: asked.arguments,
      state: callState(line, result, approval !== null, open),
      durationMs: line?.duration_ms ?? null,
      size: line?.size ?? null,
      error: line?.error ?? null,
      startedAt: line?.at ?? null,
      result,
      approval,
    };
  }

  #call(call: CallItem): void {
    if (standsAlone(call)) {
      this.#push({ kind: "calls", key: `calls:${call.id}`, calls: [call], working: false });
      if (call.approval) {
        this.#used.add(call.approval.id);
        this.#push({ kind: "approval", key: call.approval.id, approval: call.approval });
      }
      return;
    }
    if (this.#group === null) {
      this.#push({ kind: "calls", key: `calls:${call.id}`, calls: [], working: false });
      this.#group = this.#rows.at(-1) as Extract<Row, { kind: "calls" }>;
    }
    this.#group.calls.push(call);
    if (call.state === "pending") this.#group.working = true;
  }

  #close(message: Message, next: Message | undefined): void {
    if (!message.run_id || next?.run_id === message.run_id) return;
    const run = this.thread.runs.get(message.run_id);
    if (run && isEnded(run)) this.#push({ kind: "closing", key: `closing:${run.id}`, run });
  }

  #end(): void {
    const run = openRun(this.thread.runs.values());
    const stored = storedIteration(this.thread.messages, run?.id);
    if (run && this.thread.speaks)
      this.#push({
        kind: "answer",
        key: answerKey(run.id, stored + 1),
        message: null,
        runId: run.id,
        iteration: stored + 1,
      });
    for (const approval of this.thread.approvals)
      if (!this.#used.has(approval.id)) this.#push({ kind: "approval", key: approval.id, approval });
    if (run)
      this.#push({
        kind: "working",
        key: `working:${run.id}`,
        run,
        waiting: this.thread.approvals.length > 0,
      });
  }
}

const answerKey = (runId: string, iteration: number): string => `answer:${runId}:${iteration}`;

/** The one argument that says most, in a few words. */
export function shortArgument(text: string, most = 70): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return cut(text, most);
  }
  if (typeof value !== "object" || value === null) return cut(String(value ?? ""), most);
  const entries = Object.entries(value).filter(([, one]) => one !== null && one !== "" && one !== undefined);
  const known = ["path", "file", "query", "q", "url", "uri", "command", "name", "message", "text", "pattern"];
  const best = known.map((name) => entries.find(([key]) => key === name)).find((one) => one !== undefined);
  const chosen = best ?? entries[0];
  if (chosen === undefined) return "";
  const [key, one] = chosen;
  const shown = typeof one === "string" ? one : JSON.stringify(one);
  return cut(best ? shown : `${key}: ${shown}`, most);
}

function cut(text: string, most: number): string {
  const line = text
    .slice(0, most * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** What a folded group of calls says about itself. */
export function groupLabel(calls: readonly CallItem[], working: boolean): string {
  const now = calls.filter((call) => call.state === "pending");
  const last = now.at(-1);
  if (working && last) {
    const more = now.length > 1 ? ` and ${now.length - 1} more` : "";
    const argument = shortArgument(last.arguments, 40);
    return `Running ${last.tool}${argument ? ` ${argument}` : ""}${more}`;
  }
  const times = new Map<string, number>();
  for (const call of calls) times.set(call.tool, (times.get(call.tool) ?? 0) + 1);
  const names = [...times].map(([tool, count]) => (count > 1 ? `${tool} ×${count}` : tool));
  const shown = names.slice(0, 4).join(", ") + (names.length > 4 ? `, ${names.length - 4} more` : "");
  return `${calls.length} calls: ${shown}`;
}
