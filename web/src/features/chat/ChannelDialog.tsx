import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Textarea } from "@/shared/ui/Textarea";
import { toast } from "@/shared/ui/Toast";
import type { Channel } from "./queries";

export type Doing =
  | { what: "rename" | "directory" | "thread" | "instructions" | "delete"; channel: Channel }
  | { what: "create" };

type Words = { title: string; label: string; hint?: string; action: string; value: string; long?: boolean };

function wordsOf(doing: Doing): Words {
  switch (doing.what) {
    case "create":
      return {
        title: "New channel",
        label: "Name",
        hint: "A conversation of its own. With a directory, its tools work there.",
        action: "Create",
        value: "",
      };
    case "rename":
      return { title: "Rename", label: "Name", action: "Rename", value: doing.channel.name };
    case "thread":
      return {
        title: `New thread in ${doing.channel.name}`,
        label: "Name",
        hint: "Same directory, same model, nothing said yet.",
        action: "Begin",
        value: "",
      };
    case "directory":
      return {
        title: "Directory",
        label: "Path on the hub's machine",
        hint: "Its files are what the tools of this conversation read and write. Empty: none.",
        action: "Save",
        value: doing.channel.dir_path ?? "",
      };
    case "instructions":
      return {
        title: "Instructions",
        label: "What the model is told in every run of this conversation",
        action: "Save",
        value: doing.channel.system_prompt ?? "",
        long: true,
      };
    case "delete":
      return { title: "", label: "", action: "", value: "" };
  }
}

/** The small questions about a channel: its name, its directory, a new one, whether to delete it. */
export function ChannelDialog({ doing, onClose }: { doing: Doing; onClose: () => void }) {
  if (doing.what === "delete") return <Deletion channel={doing.channel} onClose={onClose} />;
  return <Form doing={doing} onClose={onClose} />;
}

function Form({
  doing,
  onClose,
}: {
  doing: Exclude<Doing, { what: "delete" }> | Doing;
  onClose: () => void;
}) {
  const words = wordsOf(doing);
  const [value, setValue] = useState(words.value);
  const [directory, setDirectory] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const navigate = useNavigate();
  const needed = doing.what !== "directory" && doing.what !== "instructions";
  const ready = !needed || value.trim() !== "" || (doing.what === "create" && directory.trim() !== "");
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = await perform(doing, value.trim(), directory.trim());
      onClose();
      if (made) void navigate({ to: "/c/$channelId", params: { channelId: made.id } });
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
    } finally {
      setBusy(false);
    }
  };
  const Control = words.long ? Textarea : Input;
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      width={words.long ? "md" : "sm"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="channel-form" busy={busy} disabled={!ready}>
            {words.action}
          </Button>
        </>
      }
    >
      <form
        id="channel-form"
        className="flex flex-col gap-4 pt-1"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void submit();
        }}
      >
        <Field label={words.label} hint={words.hint} error={error}>
          {(wiring) => (
            <Control
              {...wiring}
              autoFocus
              rows={words.long ? 8 : undefined}
              value={value}
              spellCheck={doing.what !== "directory"}
              onChange={(event: React.ChangeEvent<HTMLInputElement & HTMLTextAreaElement>) =>
                setValue(event.target.value)
              }
            />
          )}
        </Field>
        {doing.what === "create" && (
          <Field label="Directory" aside="optional" hint="An absolute path on the hub's machine.">
            {(wiring) => (
              <Input
                {...wiring}
                value={directory}
                spellCheck={false}
                placeholder="/home/me/project"
                onChange={(event) => setDirectory(event.target.value)}
              />
            )}
          </Field>
        )}
      </form>
    </Dialog>
  );
}

async function perform(doing: Doing, value: string, directory: string): Promise<Channel | null> {
  if (doing.what === "create") return createChannel(value, directory || null);
  const { channel } = doing;
  if (doing.what === "thread")
    return read(api.POST("/api/threads", { body: { channel_id: channel.id, name: value } }));
  const bodies = {
    rename: { name: value },
    directory: { dir_path: value || null },
    instructions: { system_prompt: value || null },
    delete: {},
  };
  const path = { channel_id: channel.id };
  await read(api.PATCH("/api/channels/{channel_id}", { params: { path }, body: bodies[doing.what] }));
  return null;
}

/** A new channel; where a directory has one already, a thread of it. */
export async function createChannel(name: string, directory: string | null): Promise<Channel> {
  const body = { name: name || null, dir_path: directory, platform: "local", fresh: directory === null };
  const answer = api.POST("/api/channels", { body });
  const channel = await read(answer);
  const known = (await answer).response.status === 200;
  if (!known || !name) return channel;
  return read(api.POST("/api/threads", { body: { channel_id: channel.id, name } }));
}

function Deletion({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const navigate = useNavigate();
  const { channelId } = useParams({ strict: false });
  const remove = async () => {
    try {
      const path = { channel_id: channel.id };
      if (channelId === channel.id) void navigate({ to: "/" });
      await read(api.DELETE("/api/channels/{channel_id}", { params: { path } }));
    } catch (error) {
      toast.error(error);
    }
  };
  return (
    <AlertDialog
      open
      onClose={onClose}
      danger
      title={`Delete “${channel.name}”?`}
      description={
        channel.parent_id === null
          ? "Its messages, runs and threads are removed for good. Files in its directory stay. Export it first if you may want it back."
          : "Its messages and runs are removed for good. Export it first if you may want it back."
      }
      action="Delete"
      onConfirm={remove}
    />
  );
}
