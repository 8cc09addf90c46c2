/** Events as they come over the wire (docs/api.md, Events). */
import type { Schemas } from "@/shared/api/client";

type RunText = { run_id: string; text: string; iteration: number; offset: number };
type Call = Schemas["Call"];
type Changes = { server_id: number; added: string[]; removed: string[]; changed: string[] };

type TaskNews = Schemas["TaskRun"] & { task_name: string };
type DefinitionNews = { name: string; scope: "global" | "project"; path: string };

export interface EventData {
  "mcp.status": {
    server_id: number;
    name: string;
    status: Schemas["Server"]["status"];
    pid: number | null;
    restarts: number;
    attempt?: number;
    attempts_max?: number;
    error?: string | null;
  };
  "mcp.updated": { server_id: number; tool?: string };
  "mcp.tools_changed": Changes;
  "mcp.prompts_changed": Changes;
  "mcp.resources_changed": Changes;
  "mcp.skills_changed": Changes;
  "mcp.removed": { server_id: number; name: string };
  "mcp.sign_in_ended": { server_id: number; ok: boolean; error?: string };
  "mcp.stderr": { server_id: number; text: string };
  "mcp.log": { server_id: number; level: string; logger: string | null; data: unknown };
  "mcp.resource_updated": { server_id: number; uri: string };
  "tool.started": Call;
  "tool.progress": {
    id: string;
    tool: string;
    server: string;
    run_id: string | null;
    progress: number | null;
    total: number | null;
    message: string | null;
    elapsed_ms: number;
  };
  "tool.finished": Call;
  "approval.requested": Schemas["Approval"];
  "approval.resolved": Schemas["Approval"];
  "rule.added": { id: string; rule: string };
  "rule.removed": { id: string };
  "channel.created": Schemas["Channel"];
  "channel.updated": Schemas["Channel"];
  "channel.deleted": Schemas["Channel"];
  "channel.read": { channel_id: string; person_id: string; message_id: string };
  "channel.rewound": { channel_id: string; message_id: string; kept_in: string };
  "agent.registered": Schemas["Agent"];
  "agent.updated": Schemas["Agent"];
  "agent.unregistered": Schemas["Agent"] & { reason: "ended" | "lease" | "channel" };
  "agent.message": Schemas["AgentMessage"] & { cut?: true };
  "settings.changed": Record<string, unknown>;
  "model.updated": Schemas["Model"];
  "model.deleted": { id: string };
  "message.created": Schemas["Message"];
  "message.updated": Schemas["Message"];
  "run.queued": Schemas["Run"];
  "run.started": Schemas["Run"];
  "run.iteration": { run_id: string; iteration: number; finish_reason?: string | null };
  "run.delta": RunText;
  "run.thinking": RunText;
  "run.notice": { run_id: string; text: string; iteration?: number; repairs?: unknown };
  "run.compacting": { run_id: string };
  "run.restarted": {
    run_id: string;
    iteration: number;
    reason: string;
    model: string;
    attempt: number;
    wait: number;
  };
  "run.finished": Schemas["Run"];
  "playground.updated": {
    name: string;
    scope: "global" | "project";
    project: string | null;
    change: "created" | "updated" | "deleted";
    path: string | null;
  };
  "playground.console": { name: string; scope: "global" | "project"; project: string | null };
  "memory.progress": {
    scope: "project" | "global" | "channel";
    directory: string | null;
    phase: "looking" | "reading" | "embedding";
    done: number;
    total: number;
  };
  "memory.indexed": Schemas["IndexDone"];
  "quality.progress": { phase: string; done: number; total: number; share: number };
  "quality.comparing": { phase: string; done: number; total: number; share: number };
  "quality.scanned": Schemas["SnapshotShown"];
  "quality.failed": { code: string; error: string; hint: string | null };
  "task.created": Schemas["Task"];
  "task.updated": Schemas["Task"];
  "task.deleted": { id: string };
  "task.run_started": TaskNews;
  "task.run_retrying": TaskNews;
  "task.run_finished": TaskNews;
  "task.run_missed": TaskNews;
  "task.run_skipped": TaskNews;
  "task.run_paused": TaskNews;
  "task.run_resumed": TaskNews;
  "workflow.saved": DefinitionNews;
  "workflow.deleted": DefinitionNews;
  "workflow.run_deleted": { id: string; workflow_name: string };
  "workflow.run_started": Schemas["WorkflowRunShown"];
  "workflow.run_paused": Schemas["WorkflowRunShown"];
  "workflow.run_finished": Schemas["WorkflowRunShown"];
  "workflow.node_started": WorkflowNodeNews;
  "workflow.node_finished": WorkflowNodeNews;
  gap: { reason: string };
}

/** A node of a run that moved; a long output is cut. */
export type WorkflowNodeNews = {
  run_id: string;
  workflow_name: string;
  cut?: true;
} & Pick<
  Schemas["WorkflowNodeShown"],
  | "id"
  | "node_id"
  | "type"
  | "status"
  | "attempt"
  | "output"
  | "error"
  | "error_class"
  | "reason"
  | "decision"
  | "started_at"
  | "ended_at"
>;

export type EventType = keyof EventData;

export interface HubEvent<T extends EventType = EventType> {
  seq: number;
  type: T;
  channel_id: string | null;
  data: EventData[T];
  at: string;
}
