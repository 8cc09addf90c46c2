import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Clock, FolderOpen, type LucideIcon, Plug, Sparkles } from "lucide-react";
import { useState } from "react";
import { serverList } from "@/features/servers/queries";
import { api, read } from "@/shared/api/client";
import { Input } from "@/shared/ui/Input";
import { type Attached, createChannel, useSend } from "./actions";
import { Composer } from "./Composer";

/** A name for a conversation: the beginning of what was said first. */
export function nameFrom(text: string): string {
  const line = text.trim().split("\n", 1)[0]?.replace(/\s+/g, " ") ?? "";
  if (line.length <= 48) return line || "New conversation";
  const cut = line.slice(0, 48);
  return `${cut.slice(0, cut.lastIndexOf(" ") > 24 ? cut.lastIndexOf(" ") : 47)}…`;
}

/** The first page: write, and a conversation begins. */
export function NewConversation() {
  const [directory, setDirectory] = useState("");
  const [model, setModel] = useState<string | null>(null);
  const navigate = useNavigate();
  const send = useSend();
  const begin = async (content: string, attachments: readonly Attached[]) => {
    const channel = await createChannel(nameFrom(content), directory.trim() || null);
    const path = { channel_id: channel.id };
    if (model) await read(api.PATCH("/api/channels/{channel_id}", { params: { path }, body: { model } }));
    await send.mutateAsync({ channelId: channel.id, content, attachments });
    void navigate({ to: "/c/$channelId", params: { channelId: channel.id } });
  };
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex min-h-full max-w-(--column-width) flex-col justify-center gap-6 px-4 py-10">
        <div className="text-center">
          <h1 className="text-3xl font-semibold tracking-tight">What shall we do?</h1>
          <p className="mt-1.5 text-balance text-md text-ink-soft">
            Ask, and the model uses the tools of your servers. You see every step, and what matters asks you
            first.
          </p>
        </div>
        <div>
          <Composer onFirst={begin} model={model} onModel={setModel} />
          <div className="mt-3 flex items-center gap-2 px-1">
            <FolderOpen aria-hidden className="size-4 shrink-0 text-ink-faint" />
            <Input
              aria-label="Directory"
              placeholder="Directory to work in (optional)"
              spellCheck={false}
              value={directory}
              onChange={(event) => setDirectory(event.target.value)}
              className="h-8! border-transparent! bg-transparent! shadow-none! hover:bg-hover! focus:bg-raised!"
            />
          </div>
        </div>
        <Ideas onPick={(text) => void begin(text, [])} />
      </div>
    </div>
  );
}

function Ideas({ onPick }: { onPick: (text: string) => void }) {
  const servers = useQuery(serverList).data;
  const navigate = useNavigate();
  const connected = (servers ?? []).filter((one) => one.status === "connected");
  const has = (name: string) => connected.some((one) => one.name.includes(name));
  return (
    <ul className="grid gap-2.5 sm:grid-cols-2">
      <Idea icon={FolderOpen} title="Look around" text="Which files are in this directory?" onPick={onPick} />
      {has("time") ? (
        <Idea icon={Clock} title="Use a server" text="What time is it in Tokyo?" onPick={onPick} />
      ) : servers?.length === 0 ? (
        <Idea
          icon={Plug}
          title="Add a first server"
          text="Tools for files, time, the web, your databases …"
          onPick={() => void navigate({ to: "/servers" })}
        />
      ) : (
        <Idea icon={Sparkles} title="See what there is" text="Which tools can you use?" onPick={onPick} />
      )}
    </ul>
  );
}

interface IdeaProps {
  icon: LucideIcon;
  title: string;
  text: string;
  onPick: (text: string) => void;
}

const Idea = ({ icon: Icon, title, text, onPick }: IdeaProps) => (
  <li>
    <button
      type="button"
      onClick={() => onPick(text)}
      className="flex h-full w-full items-start gap-3 rounded-lg border border-line bg-raised p-3.5 text-left shadow-sm transition-colors duration-(--quick) hover:border-line-strong hover:bg-sunken"
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-ink" />
      <span>
        <span className="block text-sm font-medium">{title}</span>
        <span className="block text-sm text-ink-soft">{text}</span>
      </span>
    </button>
  </li>
);
