import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { SchemaForm } from "@/features/servers/form/SchemaForm";
import { inputsSchema, startInputs } from "@/features/workflows/inputs";
import { definitionList } from "@/features/workflows/queries";
import { Field } from "@/shared/ui/Field";
import { Select } from "@/shared/ui/Select";
import { NEW_CHANNEL } from "./draft";
import type { FormProps } from "./TaskForm";

/** Which workflow runs, and what it is given: a form made of what it says it takes. */
export function WorkflowFields({ draft, errors, onChange }: FormProps) {
  const channel = draft.channelId === NEW_CHANNEL ? null : draft.channelId;
  const found = useQuery(definitionList(channel));
  const list = found.data ?? [];
  const chosen = list.find((one) => one.name === draft.workflowName);
  if (found.data && list.length === 0)
    return (
      <p className="rounded-md border border-line border-dashed p-4 text-sm text-ink-soft">
        There is no workflow yet.{" "}
        <Link to="/workflows" className="font-medium text-accent-ink underline underline-offset-2">
          Write one
        </Link>{" "}
        first, then choose it here.
      </p>
    );
  return (
    <>
      <Field label="Workflow" hint={chosen?.description} error={errors.workflow_name}>
        {(wiring) => (
          <Select
            {...wiring}
            value={draft.workflowName}
            placeholder="Choose"
            options={list.map((one) => ({
              value: one.name,
              label: one.name,
              hint: one.valid ? one.description : "It has mistakes",
              disabled: !one.valid,
            }))}
            onChange={(workflowName) => {
              const next = list.find((one) => one.name === workflowName);
              onChange({ workflowName, workflowInputs: next ? startInputs(next.inputs) : {} });
            }}
          />
        )}
      </Field>
      {chosen && Object.keys(chosen.inputs).length > 0 && (
        <SchemaForm
          key={chosen.name}
          schema={inputsSchema(chosen.inputs)}
          value={draft.workflowInputs}
          onChange={(value) => onChange({ workflowInputs: (value ?? {}) as Record<string, unknown> })}
        />
      )}
      {errors.workflow_inputs && (
        <p role="alert" className="text-xs text-bad-ink">
          {errors.workflow_inputs}
        </p>
      )}
    </>
  );
}
