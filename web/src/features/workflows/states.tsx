/** The words, moods and signs of nodes and runs. */
import {
  Ban,
  Check,
  CircleDashed,
  CircleHelp,
  Gauge,
  Hand,
  ListTree,
  LoaderCircle,
  type LucideIcon,
  MessageSquareText,
  Repeat,
  SkipForward,
  SquareTerminal,
  Workflow,
  Wrench,
  X,
} from "lucide-react";
import type { Mood } from "@/shared/ui/Badge";
import { StateDot } from "@/shared/ui/StateDot";
import type { NodeStatus, RunStatus } from "./queries";

export const TYPES: Record<string, LucideIcon> = {
  prompt: MessageSquareText,
  bash: SquareTerminal,
  tool: Wrench,
  approval: Hand,
  loop: Repeat,
  foreach: ListTree,
  workflow: Workflow,
  quality: Gauge,
};
export const typeIcon = (type: string): LucideIcon => TYPES[type] ?? CircleHelp;

interface Look {
  word: string;
  mood: Mood;
  icon: LucideIcon;
  /** Box and sign in the graph. */
  box: string;
  sign: string;
}

export const NODE_LOOKS: Record<NodeStatus, Look> = {
  pending: {
    word: "Not yet",
    mood: "neutral",
    icon: CircleDashed,
    box: "border-line-strong bg-raised",
    sign: "bg-hover text-ink-faint",
  },
  running: {
    word: "Running",
    mood: "busy",
    icon: LoaderCircle,
    box: "border-busy bg-busy-soft",
    sign: "bg-busy text-page [&_svg]:animate-spin",
  },
  waiting: {
    word: "Waits for you",
    mood: "warn",
    icon: Hand,
    box: "border-warn bg-warn-soft",
    sign: "bg-warn text-page",
  },
  success: {
    word: "Done",
    mood: "good",
    icon: Check,
    box: "border-good/60 bg-good-soft",
    sign: "bg-good text-page",
  },
  failed: { word: "Failed", mood: "bad", icon: X, box: "border-bad bg-bad-soft", sign: "bg-bad text-page" },
  skipped: {
    word: "Skipped",
    mood: "neutral",
    icon: SkipForward,
    box: "border-line-strong border-dashed bg-page",
    sign: "bg-hover text-ink-faint",
  },
  cancelled: {
    word: "Cancelled",
    mood: "neutral",
    icon: Ban,
    box: "border-line-strong bg-sunken",
    sign: "bg-hover text-ink-soft",
  },
};

export const NodeState = ({ status }: { status: NodeStatus }) => (
  <StateDot state={status} mood={NODE_LOOKS[status].mood} word={NODE_LOOKS[status].word} />
);

export const RUN_LOOKS: Record<RunStatus, { word: string; mood: Mood }> = {
  running: { word: "Running", mood: "busy" },
  paused: { word: "Waits for you", mood: "warn" },
  completed: { word: "Completed", mood: "good" },
  failed: { word: "Failed", mood: "bad" },
  cancelled: { word: "Cancelled", mood: "neutral" },
};

export const RunStateDot = ({ status }: { status: RunStatus }) => (
  <StateDot state={status} {...RUN_LOOKS[status]} />
);
