import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Textarea } from "@/shared/ui/Textarea";
import type { Channel } from "./queries";

interface ThreadDialogProps {
  channel: Channel;
  /** With files and a branch of its own. */
  apart: boolean;
  onClose: () => void;
  onMade?: () => void;
}

interface Wanted {
  name: string;
  branch: string;
  message: string;
}

const orNull = (text: string): string | null => text.trim() || null;

function useMake({ channel, apart, onClose, onMade }: ThreadDialogProps) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ name, branch, message }: Wanted) => {
      const common = { channel_id: channel.id, message: orNull(message) };
      return read(
        apart
          ? api.POST("/api/worktrees", { body: { ...common, branch: orNull(branch), name: orNull(name) } })
          : api.POST("/api/threads", { body: { ...common, name: name.trim() } }),
      );
    },
    onSuccess: (thread) => {
      onClose();
      onMade?.();
      void navigate({ to: "/c/$channelId", params: { channelId: thread.id } });
    },
  });
}

/** A new thread: its name, where its branch starts if it gets one, and what an agent is to do at once. */
export function ThreadDialog(props: ThreadDialogProps) {
  const { channel, apart, onClose } = props;
  const form = useId();
  const [wanted, setWanted] = useState<Wanted>({ name: "", branch: "", message: "" });
  const make = useMake(props);
  const put = (part: Partial<Wanted>) => setWanted({ ...wanted, ...part });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate(wanted);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`New ${apart ? "worktree thread" : "thread"} in ${channel.name}`}
      description={
        apart
          ? "A git worktree on a new branch: what is done in it touches nothing else."
          : "Same directory, model and permissions, nothing said yet."
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            type="submit"
            form={form}
            busy={make.isPending}
            disabled={!apart && !wanted.name.trim()}
          >
            {wanted.message.trim() ? "Start" : "Create"}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4 pt-1">
        <Field label="Name" aside={apart ? "optional" : undefined}>
          {(wiring) => (
            <Input
              {...wiring}
              autoFocus
              maxLength={100}
              value={wanted.name}
              onChange={(event) => put({ name: event.target.value })}
            />
          )}
        </Field>
        {apart && (
          <Field label="Start from" aside="optional" hint="A branch; without one, that which is checked out.">
            {(wiring) => (
              <Input
                {...wiring}
                spellCheck={false}
                placeholder="main"
                value={wanted.branch}
                onChange={(event) => put({ branch: event.target.value })}
              />
            )}
          </Field>
        )}
        <Field label="What to do" aside="optional" hint="With it, an agent starts at once.">
          {(wiring) => (
            <Textarea
              {...wiring}
              rows={4}
              value={wanted.message}
              onChange={(event) => put({ message: event.target.value })}
            />
          )}
        </Field>
        {make.isError && <ErrorState title="It was not made" error={make.error} />}
      </form>
    </Dialog>
  );
}
