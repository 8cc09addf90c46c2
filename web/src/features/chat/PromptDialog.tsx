import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { commandLine } from "./suggest";
import type { Command } from "./useSuggestions";

interface Argument {
  name: string;
  description?: string;
  required?: boolean;
}

interface PromptDialogProps {
  command: Command;
  channelId: string | undefined;
  onClose: () => void;
  /** The whole line to send. */
  onReady: (line: string) => void;
}

/** Asks for the arguments of a server's prompt. */
export function PromptDialog({ command, channelId, onClose, onReady }: PromptDialogProps) {
  const wanted = (command.arguments ?? []) as unknown as Argument[];
  const [values, setValues] = useState<Record<string, string>>({});
  const missing = wanted.some((one) => one.required && !values[one.name]?.trim());
  return (
    <Dialog
      open
      onClose={onClose}
      title={command.command}
      description={command.description ?? `A prompt of ${command.server}`}
      width="sm"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="prompt-arguments" disabled={missing}>
            Send
          </Button>
        </>
      }
    >
      <form
        id="prompt-arguments"
        className="flex flex-col gap-4 pt-1"
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing) onReady(commandLine(command.command, values));
        }}
      >
        {wanted.map((one) => (
          <ArgumentField
            key={one.name}
            argument={one}
            command={command}
            channelId={channelId}
            values={values}
            onChange={(value) => setValues({ ...values, [one.name]: value })}
          />
        ))}
      </form>
    </Dialog>
  );
}

interface ArgumentFieldProps {
  argument: Argument;
  command: Command;
  channelId: string | undefined;
  values: Record<string, string>;
  onChange: (value: string) => void;
}

function ArgumentField({ argument, command, channelId, values, onChange }: ArgumentFieldProps) {
  const [offered, setOffered] = useState<string[]>([]);
  const ask = async (value: string) => {
    const body = { kind: "prompt", of: command.name, argument: argument.name, value } as const;
    const path = { server_id: command.server_id };
    const given = { ...body, context: values, channel_id: channelId ?? null };
    try {
      const found = await read(
        api.POST("/api/servers/{server_id}/complete", { params: { path }, body: given }),
      );
      const completion = (found as { completion?: { values?: string[] } }).completion;
      setOffered(completion?.values ?? (found as { values?: string[] }).values ?? []);
    } catch {
      setOffered([]); // most servers complete nothing
    }
  };
  const list = `offered-${argument.name}`;
  return (
    <Field
      label={argument.name}
      hint={argument.description}
      aside={argument.required ? "needed" : "optional"}
    >
      {(wiring) => (
        <>
          <Input
            {...wiring}
            value={values[argument.name] ?? ""}
            list={list}
            autoComplete="off"
            required={argument.required}
            onFocus={() => void ask(values[argument.name] ?? "")}
            onChange={(event) => {
              onChange(event.target.value);
              void ask(event.target.value);
            }}
          />
          <datalist id={list}>
            {offered.slice(0, 50).map((value) => (
              <option key={value} value={value} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
