/** The words and signs of tasks. */
import { MessageSquareText, SquareTerminal, Workflow } from "lucide-react";
import type { ReactNode } from "react";
import type { Mood } from "@/shared/ui/Badge";
import type { Task, TaskRun } from "./queries";

export const DOES: Record<Task["does"], { word: string; icon: ReactNode }> = {
  prompt: { word: "Prompt", icon: <MessageSquareText /> },
  workflow: { word: "Workflow", icon: <Workflow /> },
  script: { word: "Script", icon: <SquareTerminal /> },
};

export const RUN_STATES: Record<TaskRun["state"], { mood: Mood; word: string }> = {
  due: { mood: "busy", word: "Starting" },
  waiting: { mood: "neutral", word: "Queued" },
  running: { mood: "busy", word: "Running" },
  paused: { mood: "warn", word: "Waits for an approval" },
  completed: { mood: "good", word: "Completed" },
  failed: { mood: "bad", word: "Failed" },
  cancelled: { mood: "neutral", word: "Cancelled" },
  missed: { mood: "warn", word: "Missed" },
  skipped: { mood: "neutral", word: "Skipped" },
};

export const TRIGGERS: Record<TaskRun["trigger"], string> = {
  schedule: "by its schedule",
  catch_up: "made up for",
  person: "by a person",
  agent: "by an agent",
};

/** "Every Monday to Friday at 09:00" */
export const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
