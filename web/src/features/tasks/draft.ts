/** A task while it is being written: every field as it stands in the form. */
import { ApiError } from "@/shared/api/client";
import type { paths } from "@/shared/api/schema";
import type { Task } from "./queries";
import { readSpan, writeSpan } from "./spans";

export type Does = Task["does"];

export interface Draft {
  channelId: string;
  name: string;
  type: Task["type"];
  cron: string;
  every: string;
  /** Local time in the zone, as `datetime-local` has it. */
  at: string;
  timezone: string;
  does: Does;
  prompt: string;
  workflowName: string;
  workflowInputs: Record<string, unknown>;
  script: string;
  model: string;
  allow: string[];
  budget: string;
  conversation: Task["conversation"];
  worktree: boolean;
  overlap: Task["overlap"];
  missed: Task["missed"];
  missedWindow: string;
  jitter: string;
  retries: string;
  retryDelay: string;
  maxFailures: string;
  timeout: string;
  autoDelete: string;
  keepReports: boolean;
}

/** A channel that is made together with the first task. */
export const NEW_CHANNEL = "new";

export const homeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export const emptyDraft = (channelId: string, zone = homeZone()): Draft => ({
  channelId,
  name: "",
  type: "cron",
  cron: "0 9 * * mon-fri",
  every: "1h",
  at: "",
  timezone: zone,
  does: "prompt",
  prompt: "",
  workflowName: "",
  workflowInputs: {},
  script: "",
  model: "",
  allow: [],
  budget: "",
  conversation: "new",
  worktree: false,
  overlap: "skip",
  missed: "run_once",
  missedWindow: "1d",
  jitter: "0s",
  retries: "0",
  retryDelay: "1m",
  maxFailures: "5",
  timeout: "1h",
  autoDelete: "0s",
  keepReports: false,
});

export function draftOf(task: Task): Draft {
  const fresh = emptyDraft(task.channel_id, task.timezone);
  return {
    ...fresh,
    name: task.name,
    type: task.type,
    cron: task.type === "cron" ? (task.schedule ?? "") : fresh.cron,
    every: task.type === "interval" ? (task.schedule ?? "") : fresh.every,
    at: task.type === "once" ? localTime(task.schedule ?? "", task.timezone) : "",
    does: task.does,
    prompt: task.prompt ?? "",
    workflowName: task.workflow_name ?? "",
    workflowInputs: { ...task.workflow_inputs },
    script: task.script ?? "",
    model: task.model ?? "",
    allow: [...task.allow],
    budget: task.budget == null ? "" : String(task.budget),
    conversation: task.conversation,
    worktree: task.worktree,
    overlap: task.overlap,
    missed: task.missed,
    missedWindow: writeSpan(task.missed_window_s),
    jitter: writeSpan(task.jitter_s),
    retries: String(task.retries),
    retryDelay: writeSpan(task.retry_delay_s),
    maxFailures: String(task.max_failures),
    timeout: writeSpan(task.timeout_s),
    autoDelete: writeSpan(task.auto_delete_sec),
    keepReports: task.keep_reports,
  };
}

/** A moment as a clock on the wall of that zone shows it: `2027-01-31T09:00`. */
export function localTime(moment: string, zone: string): string {
  if (!/(z|[+-]\d\d:?\d\d)$/i.test(moment)) return moment.slice(0, 16);
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return "";
  try {
    return new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone })
      .format(at)
      .replace(" ", "T");
  } catch {
    return "";
  }
}

/** The schedule as the hub reads it. One that was not touched stays to the letter. */
export function scheduleOf(draft: Draft, old?: Task): string | null {
  switch (draft.type) {
    case "cron":
      return draft.cron.trim();
    case "interval":
      return draft.every.trim();
    case "once": {
      const kept = old?.type === "once" && old.timezone === draft.timezone.trim() ? old.schedule : null;
      return kept && localTime(kept, draft.timezone) === draft.at ? kept : draft.at;
    }
    default:
      return null;
  }
}

/** What is no length or number goes as it is: the hub says so. */
const span = (text: string): number => readSpan(text) ?? (text as unknown as number);
const count = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text.trim()));
const whole = (text: string): number =>
  Number.isNaN(count(text)) ? (text as unknown as number) : count(text);

/** Whether its runs make threads that can be removed: a script has none, and the same one stays. */
export const hasThreads = (draft: Draft): boolean =>
  draft.does === "workflow" || (draft.does === "prompt" && draft.conversation === "new");

export type TaskFields = paths["/api/tasks/{task_id}"]["patch"]["requestBody"]["content"]["application/json"];

export function fieldsOf(draft: Draft, old?: Task): TaskFields {
  const asks = draft.does === "prompt";
  return {
    name: draft.name.trim() || null,
    type: draft.type,
    schedule: scheduleOf(draft, old),
    timezone: draft.timezone.trim(),
    prompt: asks ? draft.prompt : null,
    workflow_name: draft.does === "workflow" ? draft.workflowName : null,
    workflow_inputs: draft.does === "workflow" ? draft.workflowInputs : null,
    script: draft.does === "script" ? draft.script : null,
    model: asks ? draft.model || null : null,
    allow: asks ? draft.allow : [],
    budget: asks && draft.budget.trim() ? whole(draft.budget) : null,
    conversation: asks ? draft.conversation : "new",
    worktree: asks && draft.worktree,
    overlap: draft.overlap,
    missed: draft.missed,
    missed_window_s: span(draft.missedWindow),
    jitter_s: draft.type === "manual" ? 0 : span(draft.jitter),
    retries: whole(draft.retries),
    retry_delay_s: span(draft.retryDelay),
    max_failures: whole(draft.maxFailures),
    timeout_s: span(draft.timeout),
    auto_delete_sec: hasThreads(draft) ? span(draft.autoDelete) : 0,
    keep_reports: draft.keepReports,
  };
}

export type FieldErrors = Partial<Record<string, string>>;

/** What is missing before it is worth asking. */
export function missing(draft: Draft): FieldErrors {
  const errors: FieldErrors = {};
  if (draft.does === "prompt" && !draft.prompt.trim()) errors.prompt = "What is it to do? Write it down.";
  if (draft.does === "workflow" && !draft.workflowName) errors.workflow_name = "Choose a workflow.";
  if (draft.does === "script" && !draft.script.trim()) errors.script = "Write what the shell is to run.";
  if (draft.type !== "manual" && !scheduleOf(draft)) errors.schedule = "When is it to run?";
  return errors;
}

/** What the hub refused, by the field that it is about. */
export function fieldErrors(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return { "": error instanceof Error ? error.message : String(error) };
  const field = typeof error.problem.field === "string" ? error.problem.field : "";
  const message =
    field && error.message.startsWith(`${field}: `) ? error.message.slice(field.length + 2) : error.message;
  return { [field]: [message, error.hint].filter(Boolean).join(" ") };
}
