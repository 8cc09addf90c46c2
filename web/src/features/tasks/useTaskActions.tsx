import { useMutation } from "@tanstack/react-query";
import { CopyPlus, Pause, Pencil, Play, Trash2 } from "lucide-react";
import type { MenuEntry } from "@/shared/ui/Menu";
import { toast } from "@/shared/ui/Toast";
import { cloneTask, runNow, switchTask, type Task } from "./queries";

export type Asking = "edit" | "delete";

/** What can be done with a task, for its row and its page. Events bring what came of it. */
export function useTaskActions(task: Task, ask: (what: Asking) => void) {
  const run = useMutation({
    mutationFn: () => runNow(task.id),
    onSuccess: () => toast(`${task.name} is started`),
    onError: toast.error,
  });
  const pause = useMutation({
    mutationFn: () => switchTask(task.id, !task.enabled),
    onSuccess: (now) => toast(now.enabled ? `${now.name} goes on` : `${now.name} is paused`),
    onError: toast.error,
  });
  const clone = useMutation({
    mutationFn: () => cloneTask(task.id),
    onSuccess: (made) => toast(`${made.name} is there, paused`),
    onError: toast.error,
  });
  const entries: MenuEntry[] = [
    { label: "Edit", icon: <Pencil />, onSelect: () => ask("edit") },
    task.enabled
      ? { label: "Pause", icon: <Pause />, hint: "It keeps its history", onSelect: () => pause.mutate() }
      : { label: "Resume", icon: <Play />, onSelect: () => pause.mutate() },
    { label: "Clone", icon: <CopyPlus />, hint: "A copy, paused", onSelect: () => clone.mutate() },
    "line",
    { label: "Delete…", icon: <Trash2 />, danger: true, onSelect: () => ask("delete") },
  ];
  return { run, pause, entries };
}
