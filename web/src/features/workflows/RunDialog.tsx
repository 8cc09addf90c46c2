import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { channelList } from "@/features/chat/queries";
import { SchemaForm } from "@/features/servers/form/SchemaForm";
import { missingIn } from "@/features/servers/form/schema";
import { ApiError } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { useGoToMistake } from "@/shared/ui/goToMistake";
import { Select } from "@/shared/ui/Select";
import { inputsSchema, startInputs } from "./inputs";
import { startRun } from "./queries";

interface RunDialogProps {
  definition: { name: string; description: string; inputs: Record<string, unknown> };
  /** The channel that it belongs to; `null`: a person may choose one. */
  channel: string | null;
  /** What it was given last time. */
  given?: Record<string, unknown>;
  onClose: () => void;
}

const NOWHERE = "none";

/** Asks for what a workflow takes, and begins a run. */
export function RunDialog({ definition, channel, given, onClose }: RunDialogProps) {
  const form = useId();
  const navigate = useNavigate();
  const schema = inputsSchema(definition.inputs);
  const [inputs, setInputs] = useState(() => ({ ...startInputs(definition.inputs), ...given }));
  const [where, setWhere] = useState(channel ?? NOWHERE);
  const [lacking, setLacking] = useState<string[]>([]);
  useGoToMistake(lacking);
  const start = useMutation({
    mutationFn: () => startRun(definition.name, inputs, where === NOWHERE ? null : where),
    onSuccess: ({ run_id }) => {
      onClose();
      void navigate({ to: "/workflows/runs/$runId", params: { runId: run_id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const missing = missingIn(inputs, schema, schema);
    setLacking(missing);
    if (missing.length === 0) start.mutate();
  };
  const takes = Object.keys(definition.inputs).length > 0;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Run ${definition.name}`}
      description={definition.description || undefined}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} icon={<Play />} busy={start.isPending}>
            Run
          </Button>
        </>
      }
    >
      <form id={form} noValidate onSubmit={submit} className="flex flex-col gap-5">
        {takes && (
          <SchemaForm
            schema={schema}
            value={inputs}
            missing={lacking}
            onChange={(value) => {
              setInputs((value ?? {}) as Record<string, unknown>);
              setLacking([]);
            }}
          />
        )}
        <WhereField value={where} fixed={channel !== null} onChange={setWhere} />
        {start.isError && (
          <p role="alert" className="rounded-md bg-bad-soft p-3 text-sm [overflow-wrap:anywhere]">
            {start.error.message} {start.error instanceof ApiError && start.error.hint}
          </p>
        )}
      </form>
    </Dialog>
  );
}

interface WhereFieldProps {
  value: string;
  fixed: boolean;
  onChange: (value: string) => void;
}

function WhereField({ value, fixed, onChange }: WhereFieldProps) {
  const channels = useQuery(channelList).data ?? [];
  const roots = channels.filter((one) => one.parent_id === null || one.id === value);
  if (roots.length === 0) return null;
  return (
    <Field
      label="Channel"
      hint={fixed ? "It belongs to this project." : "Scripts run in its directory, prompts as its threads."}
    >
      {(wiring) => (
        <Select
          {...wiring}
          value={value}
          disabled={fixed}
          options={[
            { value: NOWHERE, label: "None" },
            ...roots.map((one) => ({ value: one.id, label: one.name, hint: one.dir_path ?? undefined })),
          ]}
          onChange={onChange}
        />
      )}
    </Field>
  );
}
