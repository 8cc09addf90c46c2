import { useMutation } from "@tanstack/react-query";
import { ArrowUp, Paperclip, Square } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { api, read } from "@/shared/api/client";
import { classes } from "@/shared/ui/classes";
import { IconButton } from "@/shared/ui/IconButton";
import { toast } from "@/shared/ui/Toast";
import { AttachedFiles } from "./AttachedFiles";
import { type Attached, useSend } from "./actions";
import { draftOf, keepDraft } from "./drafts";
import { ModelPicker } from "./ModelPicker";
import { PromptDialog } from "./PromptDialog";
import type { Channel } from "./queries";
import { Suggestions } from "./Suggestions";
import { useAttached } from "./useAttached";
import { type Command, useSuggestions } from "./useSuggestions";

interface ComposerProps {
  /** Absent where a conversation is only about to begin. */
  channelId?: string;
  channel?: Channel;
  working?: boolean;
  stopping?: boolean;
  onStop?: () => void;
  onSent?: () => void;
  /** Instead of sending into the channel. */
  onFirst?: (content: string, attachments: readonly Attached[]) => Promise<unknown>;
  model?: string | null;
  onModel?: (model: string | null) => void;
  autoFocus?: boolean;
}

/** Where one writes: Enter sends, Shift+Enter breaks the line, `/` and `@` offer what servers have. */
export function Composer(props: ComposerProps) {
  const { channelId, channel, working = false, onStop } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [text, setText] = useState(() => draftOf(channelId));
  const [caret, setCaret] = useState(0);
  const [asking, setAsking] = useState<Command | null>(null);
  const attached = useAttached();
  const suggestions = useSuggestions(channelId, text, caret);
  const sending = useSending(props);
  const canSend = (text.trim() !== "" || attached.files.length > 0) && !sending.busy;
  useEffect(() => keepDraft(channelId, text), [channelId, text]);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);

  const change = (next: string, at = next.length) => {
    setText(next);
    setCaret(at);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(at, at);
    });
  };
  const send = async (content = text) => {
    const files = attached.files;
    if (content.trim() === "" && files.length === 0) return;
    setText("");
    setCaret(0);
    attached.clear();
    props.onSent?.();
    const ok = await sending.send(content.trim() === "" ? "See the attachment." : content, files);
    if (!ok) {
      change(content);
      attached.put(files);
    }
  };
  const pick = (place: number) => {
    const { typed } = suggestions;
    const command = suggestions.commandAt(place);
    const mention = suggestions.mentionAt(place);
    if (command && (command.arguments?.length ?? 0) > 0) setAsking(command);
    else if (command) change(`${command.command} `);
    else if (mention && typed)
      change(
        `${text.slice(0, typed.start)}${mention.mention} ${text.slice(typed.end)}`,
        typed.start + mention.mention.length + 1,
      );
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (suggestions.items.length > 0 && handleList(event, suggestions, pick)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (canSend) void send();
    }
  };

  return (
    <div className="relative">
      <Suggestions
        id={listId}
        items={suggestions.items}
        chosen={suggestions.chosen}
        empty={suggestions.empty}
        onPick={pick}
        onHover={suggestions.choose}
      />
      <form
        aria-label="Message"
        onSubmit={(event) => {
          event.preventDefault();
          if (canSend) void send();
        }}
        {...attached.dropZone}
        className={classes(
          "relative rounded-xl border border-line-strong bg-raised shadow-md transition-colors duration-(--quick) focus-within:border-focus",
          attached.over && "border-focus! bg-accent-soft",
        )}
      >
        <AttachedFiles files={attached.files} onRemove={attached.remove} />
        <textarea
          ref={field}
          rows={1}
          value={text}
          aria-label="Your message"
          role="combobox"
          aria-expanded={suggestions.items.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={suggestions.items.length > 0 ? `${listId}-${suggestions.chosen}` : undefined}
          placeholder={
            attached.over ? "Drop to attach" : working ? "Say more: it joins the run" : "Ask anything"
          }
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart);
            suggestions.choose(0);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={attached.onPaste}
          className="field-sizing-content block max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-4 pt-3 pb-1 leading-relaxed outline-none"
        />
        <div className="flex items-center gap-1 px-2 pb-2">
          <IconButton size="sm" label="Attach files" icon={<Paperclip />} onClick={attached.choose} />
          <ModelOf {...props} channel={channel} />
          <span className="flex-1" />
          <span className="pr-1.5 text-2xs text-ink-faint max-sm:hidden">
            {working && text === "" ? "Esc stops" : "Enter sends · Shift+Enter breaks"}
          </span>
          {working && !canSend ? (
            <IconButton
              tone="primary"
              label="Stop"
              icon={<Square className="fill-current" />}
              busy={props.stopping}
              onClick={onStop}
              className="rounded-full!"
            />
          ) : (
            <IconButton
              type="submit"
              tone="primary"
              label={working ? "Send into the run" : "Send"}
              icon={<ArrowUp />}
              disabled={!canSend}
              busy={sending.busy}
              className="rounded-full!"
            />
          )}
        </div>
      </form>
      {asking && (
        <PromptDialog
          command={asking}
          channelId={channelId}
          onClose={() => setAsking(null)}
          onReady={(line) => {
            setAsking(null);
            void send(line);
          }}
        />
      )}
    </div>
  );
}

/** Keys of the open list; whether one was taken. */
function handleList(
  event: React.KeyboardEvent,
  list: ReturnType<typeof useSuggestions>,
  pick: (place: number) => void,
): boolean {
  const count = list.items.length;
  if (event.key === "ArrowDown") list.choose((list.chosen + 1) % count);
  else if (event.key === "ArrowUp") list.choose((list.chosen - 1 + count) % count);
  else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") pick(list.chosen);
  else if (event.key === "Escape") list.close();
  else return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

function useSending({ channelId, onFirst }: ComposerProps) {
  const say = useSend();
  const [busy, setBusy] = useState(false);
  const send = async (content: string, attachments: readonly Attached[]): Promise<boolean> => {
    setBusy(true);
    try {
      if (onFirst) await onFirst(content, attachments);
      else await say.mutateAsync({ channelId: channelId ?? "", content, attachments });
      return true;
    } catch (error) {
      if (onFirst) toast.error(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { send, busy };
}

function ModelOf({ channelId, channel, model, onModel }: ComposerProps) {
  const choose = useMutation({
    mutationFn: (next: string | null) =>
      read(
        api.PATCH("/api/channels/{channel_id}", {
          params: { path: { channel_id: channelId ?? "" } },
          body: { model: next },
        }),
      ),
    onError: toast.error,
  });
  const value = onModel ? (model ?? null) : (channel?.model ?? null);
  return <ModelPicker value={value} onChange={onModel ?? ((next) => choose.mutate(next))} />;
}
