/** Events as they come over the wire (docs/api.md, Events). */
import type { Schemas } from "@/shared/api/client";

type RunText = { run_id: string; text: string; iteration: number; offset: number };
type Call = Schemas["Call"];
type Changes = { server_id: number; added: string[]; removed: string[]; changed: string[] };

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
  "quality.progress": { phase: string; done: number; total: number; share: number };
  "quality.scanned": Schemas["SnapshotShown"];
  "quality.failed": { code: string; error: string; hint: string | null };
  gap: { reason: string };
}

export type EventType = keyof EventData;

export interface HubEvent<T extends EventType = EventType> {
  seq: number;
  type: T;
  channel_id: string | null;
  data: EventData[T];
  at: string;
}
