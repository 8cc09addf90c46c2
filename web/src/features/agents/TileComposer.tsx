import { SendHorizontal } from "lucide-react";
import { type FormEvent, useState } from "react";
import { IconButton } from "@/shared/ui/IconButton";
import { Input } from "@/shared/ui/Input";

interface TileComposerProps {
  /** To whom; read out. */
  name: string;
  /** Sends it; what fails stays in the line. */
  send: (content: string) => Promise<unknown>;
}

export function TileComposer({ name, send }: TileComposerProps) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (text.trim() === "" || busy) return;
    setBusy(true);
    try {
      await send(text);
      setText("");
    } catch {
      // Whoever sends has said why.
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex gap-1.5">
      <Input
        aria-label={`Message to ${name}`}
        placeholder="Write a message"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <IconButton
        type="submit"
        label={`Send to ${name}`}
        icon={<SendHorizontal />}
        busy={busy}
        disabled={text.trim() === ""}
      />
    </form>
  );
}
