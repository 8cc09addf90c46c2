/** The settings in a person's words: how they are grouped, what they are called, in what they are counted. */
import { formatBytes, formatDuration } from "@/shared/format/format";
import type { Setting } from "./queries";

interface Words {
  label: string;
  /** Behind the number. */
  unit?: string;
  /** The number in words that say more: 600000 as 10 min. */
  means?: (value: number) => string;
  /** What an empty field stands for. */
  empty?: string;
  example?: string;
  /** A text of several lines. */
  long?: boolean;
  choices?: Record<string, string>;
}

interface Group {
  id: string;
  title: string;
  about: string;
  names: readonly string[];
}

const ms = { unit: "ms", means: formatDuration };
const seconds = { unit: "s", means: (value: number) => formatDuration(value * 1000) };
const days = { unit: "days" };
const dollars = { unit: "$", empty: "No limit" };

export const WORDS: Record<string, Words> = {
  mcp_max_iterations: { label: "Iteration limit", unit: "rounds" },
  profile: { label: "About you", example: "I run a small bakery. Short answers, please.", long: true },
  first_iteration_wait_s: { label: "Wait for servers", ...seconds },
  approval_expiry_s: { label: "Questions expire after", ...seconds },
  model_discovery: { label: "Find local model servers" },
  run_cost_cap: { label: "Budget of a run", ...dollars },
  channel_cost_cap: { label: "Budget of a channel", ...dollars },
  tool_timeout_max: { label: "Longest tool call", ...ms },
  result_limit_chars: { label: "Longest result for the model", unit: "characters" },
  tool_search_budget: {
    label: "Room for tool definitions",
    means: (share) => (share === 0 ? "all are always sent" : `${Math.round(share * 100)} % of the context`),
  },
  tool_namespace: {
    label: "Tool names carry",
    choices: { name: "The server's name", id: "The server's number" },
  },
  connect_parallel: { label: "Connect side by side", unit: "servers" },
  reconnect_attempts: { label: "Restart a server that died", unit: "times" },
  command_sandbox: {
    label: "Sandbox for commands",
    choices: {
      auto: "Where it works",
      required: "Always, or not at all",
      off: "Never",
    },
  },
  command_network: { label: "Network for commands" },
  fetch_allow: { label: "Private hosts that may be fetched", example: "intranet.example" },
  searxng_url: { label: "SearXNG address", empty: "Not set", example: "https://search.example" },
  long_run_s: { label: "A run is long after", ...seconds },
  webhook_url: { label: "Webhook address", empty: "Not set", example: "https://hooks.example/me" },
  webhook_secret: { label: "Webhook secret", empty: "Not set", example: `\${keyring:webhook}` },
  hub_name: { label: "Name of the hub" },
  agent_mailbox_limit: { label: "Messages that wait for an agent" },
  agent_message_ttl_s: { label: "Messages to agents expire after", ...seconds },
  memory_paths: { label: "Where projects have notes", example: "docs" },
  memory_global_paths: { label: "Where global notes are", example: "~/notes" },
  memory_conversations: { label: "Remember conversations" },
  memory_embedder: { label: "Who makes vectors", example: "ollama:nomic-embed-text" },
  memory_embedder_url: {
    label: "Address for vectors",
    empty: "The usual one",
    example: "https://api.example/v1",
  },
  memory_embedder_key: { label: "Key for vectors", empty: "Not set", example: `\${OPENAI_API_KEY}` },
  memory_file_bytes: { label: "Largest file that is read", unit: "bytes", means: formatBytes },
  memory_watch: { label: "Follow changes of files" },
  quality_exclude: { label: "Left out of scans", example: "vendor/" },
  quality_max_files: { label: "Files of a scan", unit: "files" },
  quality_max_bytes: { label: "Bytes of a scan", unit: "bytes", means: formatBytes },
  quality_workers: {
    label: "Processes of a scan",
    means: (count) => (count === 0 ? "one for each core" : "side by side"),
  },
  quality_wait_s: { label: "A scanner waits for the next scan", ...seconds },
  quality_history: { label: "Scans kept of a branch", unit: "scans" },
  retention_calls_days: { label: "Keep tool calls", ...days },
  retention_events_days: { label: "Keep events", ...days },
  retention_results_days: { label: "Keep large results", ...days },
  retention_results_bytes: { label: "Room for large results", unit: "bytes", means: formatBytes },
};

export const GROUPS: readonly Group[] = [
  {
    id: "general",
    title: "General",
    about: "How a run works.",
    names: [
      "mcp_max_iterations",
      "profile",
      "first_iteration_wait_s",
      "approval_expiry_s",
      "model_discovery",
    ],
  },
  {
    id: "limits",
    title: "Limits and budgets",
    about: "When a run pauses and asks, and how much a tool may take.",
    names: [
      "run_cost_cap",
      "channel_cost_cap",
      "tool_timeout_max",
      "result_limit_chars",
      "tool_search_budget",
    ],
  },
  {
    id: "servers",
    title: "Servers",
    about: "How MCP servers are started and named.",
    names: ["connect_parallel", "reconnect_attempts", "tool_namespace"],
  },
  {
    id: "commands",
    title: "Commands and network",
    about: "What the hub's own tools may do on this machine.",
    names: ["command_sandbox", "command_network", "fetch_allow", "searxng_url"],
  },
  {
    id: "agents",
    title: "Agents",
    about: "How agents are called and reached.",
    names: ["hub_name", "agent_mailbox_limit", "agent_message_ttl_s"],
  },
  {
    id: "memory",
    title: "Memory",
    about: "Which notes are searched, and who makes their vectors.",
    names: [
      "memory_paths",
      "memory_global_paths",
      "memory_conversations",
      "memory_embedder",
      "memory_embedder_url",
      "memory_embedder_key",
      "memory_file_bytes",
      "memory_watch",
    ],
  },
  {
    id: "quality",
    title: "Quality",
    about: "What a scan of code reads, and how much of it is kept.",
    names: [
      "quality_exclude",
      "quality_max_files",
      "quality_max_bytes",
      "quality_workers",
      "quality_wait_s",
      "quality_history",
    ],
  },
  {
    id: "notifications",
    title: "Notifications",
    about: "How you are told that something waits for you.",
    names: ["long_run_s", "webhook_url", "webhook_secret"],
  },
  {
    id: "retention",
    title: "What is kept",
    about: "Old things go by themselves, every few hours.",
    names: [
      "retention_calls_days",
      "retention_events_days",
      "retention_results_days",
      "retention_results_bytes",
    ],
  },
];

export interface Shown {
  group: Group;
  settings: Setting[];
}

/** Every setting in its group; one that is in none comes last, so that nothing is ever missing. */
export function grouped(settings: readonly Setting[]): Shown[] {
  const known = new Set(GROUPS.flatMap((group) => group.names));
  const rest = settings.filter((setting) => !known.has(setting.name));
  const find = (name: string) => settings.find((setting) => setting.name === name);
  const shown = GROUPS.map((group) => ({
    group,
    settings: group.names.map(find).filter((setting) => setting !== undefined),
  }));
  const more = { id: "more", title: "More", about: "Everything else.", names: [] };
  return [...shown, { group: more, settings: rest }].filter((one) => one.settings.length > 0);
}

/** A setting that has no words of its own is called by its name. */
export function wordsOf(setting: Setting): Words {
  const words = setting.name.replaceAll("_", " ");
  return WORDS[setting.name] ?? { label: words.charAt(0).toUpperCase() + words.slice(1) };
}

/** A value as it is read: "10 rounds", "600,000 ms (10 min)", "On". */
export function spoken(setting: Setting, value: unknown): string {
  const words = wordsOf(setting);
  if (value === null || value === undefined || value === "") return words.empty ?? "Nothing";
  if (typeof value === "boolean") return value ? "On" : "Off";
  if (Array.isArray(value)) return value.length === 0 ? "None" : value.join(", ");
  if (typeof value === "number") {
    const number = value.toLocaleString();
    const counted = words.unit === "$" ? `$${number}` : words.unit ? `${number} ${words.unit}` : number;
    return words.means ? `${counted} (${words.means(value)})` : counted;
  }
  return words.choices?.[String(value)] ?? String(value);
}
