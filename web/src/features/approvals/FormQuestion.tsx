import { useEffect, useId, useMemo, useRef, useState } from "react";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Field as Labelled } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { Textarea } from "@/shared/ui/Textarea";
import type { AnswerBody } from "./answer";
import { Decision } from "./Decision";
import {
  type Entries,
  type Entry,
  type Field,
  fieldsOf,
  problemsIn,
  responseOf,
  startOf,
} from "./formFields";
import { SpelledText } from "./SpelledText";

interface FormQuestionProps {
  schema: Record<string, unknown>;
  /** What was wrong with the answer before. */
  problem: string | null;
  busy: boolean;
  onAnswer: (answer: AnswerBody) => void;
}

/** A form that a server asks for. Nothing leaves before the person sends it. */
export function FormQuestion({ schema, problem, busy, onAnswer }: FormQuestionProps) {
  const id = useId();
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [entries, setEntries] = useState<Entries>(() => startOf(fields));
  const form = useRef<HTMLFormElement>(null);
  const [sent, setSent] = useState(0);
  const problems = sent > 0 ? problemsIn(fields, entries) : {};
  useEffect(() => {
    if (sent > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [sent]);
  const send = () => {
    setSent(sent + 1);
    if (Object.keys(problemsIn(fields, entries)).length > 0) return;
    onAnswer({ decision: "approve", scope: "once", response: responseOf(fields, entries) });
  };
  return (
    <div className="flex flex-col gap-4">
      {problem && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad-ink">
          What was sent before was not accepted: <SpelledText text={problem} />
        </p>
      )}
      <form
        ref={form}
        id={id}
        noValidate
        className="flex flex-col gap-3.5"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {fields.map((field) => (
          <Control
            key={field.name}
            field={field}
            entry={entries[field.name]}
            problem={problems[field.name]}
            onChange={(entry) => setEntries({ ...entries, [field.name]: entry })}
          />
        ))}
      </form>
      <Decision yes="Send" no="Decline" form={id} busy={busy} onAnswer={onAnswer} />
    </div>
  );
}

interface ControlProps {
  field: Field;
  entry: Entry;
  problem?: string;
  onChange: (entry: Entry) => void;
}

function Control({ field, entry, problem, onChange }: ControlProps) {
  const hint = field.description ? <SpelledText text={field.description} /> : undefined;
  if (field.kind === "boolean")
    return (
      <div className="flex flex-col gap-0.5">
        <Checkbox checked={entry === true} onChange={onChange} label={<SpelledText text={field.label} />} />
        {hint && <p className="pl-6 text-xs text-ink-faint">{hint}</p>}
      </div>
    );
  if (field.kind === "choices")
    return <Choices field={field} entry={entry} problem={problem} onChange={onChange} />;
  return (
    <Labelled
      label={<SpelledText text={field.label} />}
      hint={hint}
      error={problem && <SpelledText text={problem} />}
      aside={field.required ? undefined : "optional"}
    >
      {(wiring) => (
        <Entered
          field={field}
          text={typeof entry === "string" ? entry : ""}
          wiring={wiring}
          onChange={onChange}
        />
      )}
    </Labelled>
  );
}

interface EnteredProps {
  field: Field;
  text: string;
  wiring: { id: string };
  onChange: (entry: Entry) => void;
}

function Entered({ field, text, wiring, onChange }: EnteredProps) {
  if (field.kind === "choice") {
    // Values of a select must not be empty texts, those of a stranger may be: they go by their place.
    const place = field.choices.findIndex((choice) => choice.value === text);
    return (
      <Select
        {...wiring}
        value={place < 0 ? "" : String(place)}
        placeholder="Choose…"
        options={field.choices.map((choice, at) => ({
          value: String(at),
          label: <SpelledText text={choice.label} />,
        }))}
        onChange={(at) => onChange(field.choices[Number(at)]?.value)}
      />
    );
  }
  if (field.kind === "long" || field.kind === "json")
    return (
      <Textarea
        {...wiring}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        className={field.kind === "json" ? "font-mono" : undefined}
      />
    );
  const isNumber = field.kind === "number" || field.kind === "integer";
  return (
    <Input
      {...wiring}
      type={isNumber ? "text" : field.input}
      inputMode={isNumber ? "decimal" : undefined}
      autoComplete="off"
      required={field.required}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Choices({ field, entry, problem, onChange }: ControlProps) {
  const chosen = Array.isArray(entry) ? entry : [];
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5 text-sm font-medium">
        <SpelledText text={field.label} />
      </legend>
      {field.choices.map(({ value, label }) => (
        <Checkbox
          key={value}
          checked={chosen.includes(value)}
          label={<SpelledText text={label} />}
          onChange={(checked) =>
            onChange(checked ? [...chosen, value] : chosen.filter((one) => one !== value))
          }
        />
      ))}
      {problem ? (
        <p role="alert" className="text-xs text-bad-ink">
          {problem}
        </p>
      ) : (
        field.description && (
          <p className="text-xs text-ink-faint">
            <SpelledText text={field.description} />
          </p>
        )
      )}
    </fieldset>
  );
}
