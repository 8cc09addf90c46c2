import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import type { Channel } from "@/features/chat/queries";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Textarea } from "@/shared/ui/Textarea";
import { toast } from "@/shared/ui/Toast";

interface StartDialogProps {
  channel: Channel;
  open: boolean;
  onClose: () => void;
}

interface Wanted {
  name: string;
  task: string;
  apart: boolean;
}

const useStart = (channel: Channel, done: () => void) =>
  useMutation({
    mutationFn: ({ name, task, apart }: Wanted) => {
      const body = { channel_id: channel.id, name, message: task };
      return read(apart ? api.POST("/api/worktrees", { body }) : api.POST("/api/threads", { body }));
    },
    onSuccess: (thread) => {
      toast(`${thread.name} has started`);
      done();
    },
    onError: toast.error,
  });

/** A new agent in a thread of the channel, which begins at once. */
export function StartDialog({ channel, open, onClose }: StartDialogProps) {
  const form = useId();
  const [wanted, setWanted] = useState<Wanted>({ name: "", task: "", apart: false });
  const start = useStart(channel, () => {
    setWanted({ name: "", task: "", apart: false });
    onClose();
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    start.mutate({ ...wanted, name: wanted.name.trim() });
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Start an agent"
      description={`In a thread of ${channel.name}, with its directory, model and permissions.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            type="submit"
            form={form}
            busy={start.isPending}
            disabled={!wanted.name.trim() || !wanted.task.trim()}
          >
            Start
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <Field label="Name">
          {(wiring) => (
            <Input
              {...wiring}
              value={wanted.name}
              maxLength={100}
              onChange={(event) => setWanted({ ...wanted, name: event.target.value })}
            />
          )}
        </Field>
        <Field label="What it is to do">
          {(wiring) => (
            <Textarea
              {...wiring}
              rows={5}
              value={wanted.task}
              onChange={(event) => setWanted({ ...wanted, task: event.target.value })}
            />
          )}
        </Field>
        {channel.dir_path && (
          <Checkbox
            checked={wanted.apart}
            onChange={(apart) => setWanted({ ...wanted, apart })}
            label="In a git worktree of its own, on a new branch"
          />
        )}
      </form>
    </Dialog>
  );
}
