/** What is worth a notification, and in which words. Pure. */
import type { Schemas } from "@/shared/api/client";
import { formatDuration } from "@/shared/format/format";

export interface Notice {
  title: string;
  body: string;
  /** One notification for one thing: a second one replaces it. */
  tag: string;
  /** Where a click leads. */
  path: string;
}

const LONGEST = 140;
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

export const approvalTag = (id: string): string => `approval:${id}`;

export function approvalNotice({ id, title, kind }: Schemas["Approval"]): Notice {
  const asks = kind === "elicitation" ? "A server asks you something" : "Your word is needed";
  return { title: asks, body: short(title), tag: approvalTag(id), path: "/approvals" };
}

const ENDINGS: Record<string, string> = {
  completed: "A run is done",
  failed: "A run failed",
  max_iterations: "A run stopped at its iteration limit",
};

/** Nothing for a run that was short, or that the person stopped. */
export function runNotice(run: Schemas["Run"], longMs: number): Notice | null {
  const title = ENDINGS[run.status];
  const took = tookMs(run);
  if (title === undefined || took === null || took < longMs) return null;
  const said = short((run.error ?? run.text ?? "").trim());
  return {
    title: `${title} after ${formatDuration(took)}`,
    body: said,
    tag: `run:${run.id}`,
    path: `/c/${encodeURIComponent(run.channel_id)}`,
  };
}

function tookMs({ started_at, ended_at }: Schemas["Run"]): number | null {
  if (!started_at || !ended_at) return null;
  return new Date(ended_at).getTime() - new Date(started_at).getTime();
}
