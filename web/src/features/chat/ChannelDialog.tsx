import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Textarea } from "@/shared/ui/Textarea";
import { createChannel } from "./actions";
import { Deletion } from "./Deletion";
import type { Channel } from "./queries";
import { ThreadDialog } from "./ThreadDialog";

export type Doing =
  | {
      what: "rename" | "directory" | "thread" | "worktree" | "instructions" | "delete";
      channel: Channel;
    }
  | { what: "create" };

type Asked = { what: "rename" | "directory" | "instructions"; channel: Channel } | { what: "create" };

type Words = { title: string; label: string; hint?: string; action: string; value: string; long?: boolean };

function wordsOf(doing: Asked): Words {
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
  }
}

/** The small questions about a channel: its name, its directory, a new one, whether to delete it. */
export function ChannelDialog({
  doing,
  onClose,
  onGo,
}: {
  doing: Doing;
  onClose: () => void;
  onGo?: () => void;
}) {
  switch (doing.what) {
    case "delete":
      return <Deletion channel={doing.channel} onClose={onClose} />;
    case "thread":
    case "worktree":
      return (
        <ThreadDialog
          channel={doing.channel}
          apart={doing.what === "worktree"}
          onClose={onClose}
          onMade={onGo}
        />
      );
    case "create":
      return <Form doing={doing} onClose={onClose} />;
    default:
      return <Form doing={{ what: doing.what, channel: doing.channel }} onClose={onClose} />;
  }
}

function Form({ doing, onClose }: { doing: Asked; onClose: () => void }) {
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

async function perform(doing: Asked, value: string, directory: string): Promise<Channel | null> {
  if (doing.what === "create") return createChannel(value, directory || null);
  const { channel } = doing;
  const bodies = {
    rename: { name: value },
    directory: { dir_path: value || null },
    instructions: { system_prompt: value || null },
  };
  const path = { channel_id: channel.id };
  await read(api.PATCH("/api/channels/{channel_id}", { params: { path }, body: bodies[doing.what] }));
  return null;
}
