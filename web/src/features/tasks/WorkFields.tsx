import { useQuery } from "@tanstack/react-query";
import { modelList } from "@/features/models/queries";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Segmented } from "@/shared/ui/Segmented";
import { Select } from "@/shared/ui/Select";
import { Textarea } from "@/shared/ui/Textarea";
import { AllowField } from "./AllowField";
import type { FormProps } from "./TaskForm";
import { WorkflowFields } from "./WorkflowFields";
import { DOES } from "./words";

const KINDS = (["prompt", "workflow", "script"] as const).map((value) => ({
  value,
  label: DOES[value].word,
  icon: DOES[value].icon,
}));

export function WorkFields(props: FormProps) {
  const { draft, onChange } = props;
  return (
    <>
      <Segmented
        label="What runs"
        value={draft.does}
        options={KINDS}
        onChange={(does) => onChange({ does })}
      />
      {draft.does === "prompt" && <PromptFields {...props} />}
      {draft.does === "workflow" && <WorkflowFields {...props} />}
      {draft.does === "script" && <ScriptField {...props} />}
    </>
  );
}

function ScriptField({ draft, errors, onChange }: FormProps) {
  return (
    <Field
      label="Script"
      hint="Runs in the shell, in the directory of the channel. No model, no tokens."
      error={errors.script}
    >
      {(wiring) => (
        <Textarea
          {...wiring}
          rows={5}
          spellCheck={false}
          className="font-mono text-xs"
          value={draft.script}
          onChange={(event) => onChange({ script: event.target.value })}
        />
      )}
    </Field>
  );
}

function PromptFields(props: FormProps) {
  const { draft, errors, onChange } = props;
  return (
    <>
      <Field
        label="Prompt"
        hint="What the agent is told each time. “Say NOTHING TO REPORT when all is well” keeps quiet runs quiet."
        error={errors.prompt}
      >
        {(wiring) => (
          <Textarea
            {...wiring}
            rows={5}
            value={draft.prompt}
            onChange={(event) => onChange({ prompt: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <ModelField {...props} />
        <Field label="Budget per run" hint="US dollars; empty: no limit of its own." error={errors.budget}>
          {(wiring) => (
            <Input
              {...wiring}
              inputMode="decimal"
              placeholder="0.50"
              value={draft.budget}
              onChange={(event) => onChange({ budget: event.target.value })}
            />
          )}
        </Field>
      </div>
      <AllowField {...props} />
      <Field label="Conversation" error={errors.conversation}>
        {(wiring) => (
          <Select
            {...wiring}
            value={draft.conversation}
            options={[
              { value: "new", label: "A new thread for each run" },
              { value: "same", label: "Always the same thread", hint: "It remembers what was said before" },
            ]}
            onChange={(conversation) => onChange({ conversation })}
          />
        )}
      </Field>
      {draft.conversation === "new" && (
        <div>
          <Checkbox
            checked={draft.worktree}
            onChange={(worktree) => onChange({ worktree })}
            label="Each run in a git worktree of its own"
          />
          {errors.worktree && (
            <p role="alert" className="mt-1 text-xs text-bad-ink">
              {errors.worktree}
            </p>
          )}
        </div>
      )}
    </>
  );
}

const CHANNELS = "channel";

function ModelField({ draft, errors, onChange }: FormProps) {
  const models = useQuery(modelList).data ?? [];
  const known = models.some((one) => one.id === draft.model);
  return (
    <Field label="Model" error={errors.model}>
      {(wiring) => (
        <Select
          {...wiring}
          value={draft.model || CHANNELS}
          options={[
            { value: CHANNELS, label: "That of the channel" },
            ...models.map((one) => ({ value: one.id, label: one.name })),
            ...(draft.model && !known ? [{ value: draft.model, label: draft.model }] : []),
          ]}
          onChange={(model) => onChange({ model: model === CHANNELS ? "" : model })}
        />
      )}
    </Field>
  );
}
