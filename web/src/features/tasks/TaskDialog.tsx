import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { channelList } from "@/features/chat/queries";
import { api, read } from "@/shared/api/client";
import { upsert } from "@/shared/events/follow";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { useGoToMistake } from "@/shared/ui/goToMistake";
import { toast } from "@/shared/ui/Toast";
import {
  type Draft,
  draftOf,
  emptyDraft,
  type FieldErrors,
  fieldErrors,
  fieldsOf,
  missing,
  NEW_CHANNEL,
} from "./draft";
import { type Task, taskList } from "./queries";
import { TaskForm } from "./TaskForm";

interface TaskDialogProps {
  /** The task that is changed; without one a new one is made. */
  task?: Task;
  onClose: () => void;
}

/** Makes a task, or changes one. */
export function TaskDialog({ task, onClose }: TaskDialogProps) {
  const channels = useQuery(channelList);
  if (channels.isPending) return null;
  const first = channels.data?.find((one) => one.parent_id === null);
  return <Opened task={task} onClose={onClose} channelId={first?.id ?? NEW_CHANNEL} />;
}

function Opened({ task, onClose, channelId }: TaskDialogProps & { channelId: string }) {
  const form = useId();
  const [draft, setDraft] = useState<Draft>(() => (task ? draftOf(task) : emptyDraft(channelId)));
  const [errors, setErrors] = useState<FieldErrors>({});
  const save = useSave(task, setErrors, onClose);
  useGoToMistake(errors);
  const change = (changes: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...changes }));
    setErrors({});
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacking = missing(draft);
    setErrors(lacking);
    if (Object.keys(lacking).length === 0) save.mutate(draft);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      width="lg"
      title={task ? `Edit ${task.name}` : "New task"}
      description="What is to be done, and when. Nobody is there to be asked while it runs."
      footer={
        <>
          {errors[""] && (
            <p
              role="alert"
              className="min-w-0 flex-1 basis-40 self-center text-sm text-bad-ink [overflow-wrap:anywhere]"
            >
              {errors[""]}
            </p>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={save.isPending}>
            {task ? "Save" : "Make task"}
          </Button>
        </>
      }
    >
      <form id={form} noValidate onSubmit={submit}>
        <TaskForm draft={draft} errors={errors} old={task} onChange={change} />
      </form>
    </Dialog>
  );
}

async function send(draft: Draft, old: Task | undefined): Promise<Task> {
  const body = fieldsOf(draft, old);
  if (old) return read(api.PATCH("/api/tasks/{task_id}", { params: { path: { task_id: old.id } }, body }));
  let channel_id = draft.channelId;
  if (channel_id === NEW_CHANNEL)
    channel_id = (await read(api.POST("/api/channels", { body: { name: "Tasks" } }))).id;
  return read(api.POST("/api/tasks", { body: { ...body, channel_id } }));
}

function useSave(old: Task | undefined, onErrors: (errors: FieldErrors) => void, onDone: () => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (draft: Draft) => send(draft, old),
    onSuccess: (saved) => {
      cache.setQueryData(taskList.queryKey, (list) => list && upsert(list, saved, (one) => one.id));
      toast(old ? `${saved.name} is saved` : `${saved.name} is made`);
      onDone();
    },
    onError: (error) => onErrors(fieldErrors(error)),
  });
}
