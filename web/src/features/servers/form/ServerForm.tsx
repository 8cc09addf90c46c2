import { Globe, Terminal } from "lucide-react";
import { RadioGroup } from "radix-ui";
import type { ReactNode } from "react";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { Textarea } from "@/shared/ui/Textarea";
import { type Draft, type Mistakes, splitCommand } from "../draft";
import { PairsField } from "./PairsField";

export interface ServerFormProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
  mistakes: Mistakes;
  /** The name of a server that is there cannot be changed: rules and the log know it by that. */
  nameLocked?: boolean;
  /** Its project's file describes it; only what a person decides can be changed. */
  decisionsOnly?: boolean;
}

/** Everything that can be said about a server. */
export function ServerForm({ draft, onChange, mistakes, nameLocked, decisionsOnly }: ServerFormProps) {
  const set = (part: Partial<Draft>) => onChange({ ...draft, ...part });
  const parts = { draft, set, mistakes };
  return (
    <div className="flex flex-col gap-5">
      <Field
        label="Name"
        hint={
          nameLocked
            ? "The name stays: rules and the log know it by this."
            : "Part of its tools' names: mcp__name__tool."
        }
        error={mistakes.name}
      >
        {(wiring) => (
          <Input
            {...wiring}
            value={draft.name}
            readOnly={nameLocked}
            autoFocus={!nameLocked && !draft.name}
            placeholder="files"
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      {!decisionsOnly && (
        <>
          <TransportChoice {...parts} />
          {draft.transport === "stdio" ? <LocalFields {...parts} /> : <RemoteFields {...parts} />}
        </>
      )}
      <DecisionFields {...parts} />
    </div>
  );
}

interface PartProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  mistakes: Mistakes;
}

const TRANSPORTS: { value: Draft["transport"]; label: string; hint: string; icon: ReactNode }[] = [
  { value: "stdio", label: "Command", hint: "A program on this machine", icon: <Terminal /> },
  { value: "http", label: "URL", hint: "Streamable HTTP", icon: <Globe /> },
  { value: "sse", label: "URL, older", hint: "Server-sent events", icon: <Globe /> },
];

function TransportChoice({ draft, set }: PartProps) {
  return (
    <RadioGroup.Root
      aria-label="How it is reached"
      value={draft.transport}
      onValueChange={(value) => set({ transport: value as Draft["transport"] })}
      className="grid gap-2 sm:grid-cols-3"
    >
      {TRANSPORTS.map((one) => (
        <RadioGroup.Item
          key={one.value}
          value={one.value}
          className="flex items-center gap-2.5 rounded-md border border-line-strong bg-raised px-3 py-2 text-left shadow-sm hover:bg-sunken data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft [&_svg]:size-4 [&_svg]:text-ink-faint data-[state=checked]:[&_svg]:text-accent-ink"
        >
          {one.icon}
          <span>
            <span className="block text-sm font-medium">{one.label}</span>
            <span className="block text-xs text-ink-soft">{one.hint}</span>
          </span>
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

function LocalFields({ draft, set, mistakes }: PartProps) {
  // Somebody pastes a whole command line: its words go where they belong.
  const spread = () => {
    const [command = "", ...args] = splitCommand(draft.command);
    if (args.length > 0 && !draft.args.trim()) set({ command, args: args.join("\n") });
  };
  return (
    <>
      <Field
        label="Command"
        hint="A program, or a whole command line: it is split when you go on."
        error={mistakes.command}
      >
        {(wiring) => (
          <Input
            {...wiring}
            value={draft.command}
            placeholder="npx"
            spellCheck={false}
            autoComplete="off"
            className="font-mono text-xs"
            onBlur={spread}
            onChange={(event) => set({ command: event.target.value })}
          />
        )}
      </Field>
      <Field label="Arguments" hint="One per line. They can be seen by every process: secrets go below.">
        {(wiring) => (
          <Textarea
            {...wiring}
            value={draft.args}
            placeholder={"-y\n@modelcontextprotocol/server-memory"}
            spellCheck={false}
            className="font-mono text-xs"
            onChange={(event) => set({ args: event.target.value })}
          />
        )}
      </Field>
      <PairsField
        legend="Environment variables"
        noun="variable"
        hint="Stored as secrets. ${NAME} takes the hub's own variable."
        pairs={draft.env}
        onChange={(env) => set({ env })}
      />
      <Field label="Working directory" hint="Leave it empty for the hub's own." error={mistakes.cwd}>
        {(wiring) => (
          <Input
            {...wiring}
            value={draft.cwd}
            placeholder="/home/me/project"
            spellCheck={false}
            className="font-mono text-xs"
            onChange={(event) => set({ cwd: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function RemoteFields({ draft, set, mistakes }: PartProps) {
  return (
    <>
      <Field label="URL" error={mistakes.url} hint="If it wants a sign-in, it asks for it once it is saved.">
        {(wiring) => (
          <Input
            {...wiring}
            type="url"
            value={draft.url}
            placeholder="https://example.com/mcp"
            spellCheck={false}
            className="font-mono text-xs"
            onChange={(event) => set({ url: event.target.value })}
          />
        )}
      </Field>
      <PairsField
        legend="Headers"
        noun="header"
        hint="Stored as secrets, for example Authorization: Bearer …"
        pairs={draft.headers}
        onChange={(headers) => set({ headers })}
      />
    </>
  );
}

function DecisionFields({ draft, set, mistakes }: PartProps) {
  return (
    <div className="grid gap-x-4 gap-y-5 border-t border-line pt-5 sm:grid-cols-2">
      <Field label="Trust" hint="What its tools may do without asking you.">
        {(wiring) => (
          <Select
            {...wiring}
            value={draft.trust}
            onChange={(trust) => set({ trust })}
            options={[
              { value: "ask", label: "Ask for every call", hint: "Unless a rule allows it" },
              { value: "trusted", label: "Trusted", hint: "Asks only for what says it is destructive" },
              { value: "full", label: "Full trust", hint: "Never asks" },
            ]}
          />
        )}
      </Field>
      <Field label="Calls side by side" hint="For servers that mix up calls that overlap.">
        {(wiring) => (
          <Select
            {...wiring}
            value={draft.parallel}
            onChange={(parallel) => set({ parallel })}
            options={[
              { value: "all", label: "All" },
              { value: "read_only", label: "Only those that read" },
              { value: "none", label: "None: one after the other" },
            ]}
          />
        )}
      </Field>
      <Seconds
        label="Time for a call"
        value={draft.toolTimeout}
        error={mistakes.toolTimeout}
        onChange={(toolTimeout) => set({ toolTimeout })}
      />
      <Seconds
        label="Time to connect"
        value={draft.connectTimeout}
        error={mistakes.connectTimeout}
        onChange={(connectTimeout) => set({ connectTimeout })}
      />
    </div>
  );
}

interface SecondsProps {
  label: string;
  value: string;
  error?: string;
  onChange: (value: string) => void;
}

const Seconds = ({ label, value, error, onChange }: SecondsProps) => (
  <Field label={label} aside="seconds" error={error}>
    {(wiring) => (
      <Input
        {...wiring}
        inputMode="decimal"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="tabular-nums"
      />
    )}
  </Field>
);
