import { Plus, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/shared/ui/Button";
import { Field } from "@/shared/ui/Field";
import { IconButton } from "@/shared/ui/IconButton";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { Textarea } from "@/shared/ui/Textarea";
import { kindOf, propertiesOf, resolve, type Schema, startOf, typeName, withEntry } from "./schema";

interface FormProps {
  schema: Schema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Paths that must be given and are not. */
  missing?: readonly string[];
}

/** A form made from a JSON schema: every field as what it is, what is not understood as JSON. */
export function SchemaForm({ schema, value, onChange, missing = [] }: FormProps) {
  const root = schema;
  const real = resolve(schema, root);
  if (propertiesOf(real, root).length === 0)
    return <p className="text-sm text-ink-soft">It takes no arguments.</p>;
  return (
    <ObjectFields
      schema={real}
      value={value}
      onChange={(next) => onChange(next ?? {})}
      root={root}
      path=""
      missing={missing}
    />
  );
}

interface PartProps {
  schema: Schema;
  root: Schema;
  value: unknown;
  onChange: (value: unknown) => void;
  path: string;
  missing: readonly string[];
}

function ObjectFields({ schema, root, value, onChange, path, missing }: PartProps) {
  const given = (typeof value === "object" && value !== null ? value : {}) as Schema;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {propertiesOf(schema, root).map((property) => (
        <Part
          key={property.name}
          label={property.name}
          required={property.required}
          schema={property.schema}
          root={root}
          value={given[property.name]}
          onChange={(entry) => onChange(withEntry(given, property.name, entry))}
          path={path ? `${path}.${property.name}` : property.name}
          missing={missing}
        />
      ))}
    </div>
  );
}

interface NamedProps extends PartProps {
  label: string;
  required: boolean;
}

/** One value with its label, whatever kind it is. */
function Part(props: NamedProps) {
  const { label, required, schema, root, path, missing } = props;
  const kind = kindOf(schema);
  const hint = typeof schema.description === "string" ? schema.description : undefined;
  if (kind === "object" || kind === "list")
    return (
      <Group label={label} required={required} hint={hint} type={typeName(schema, root)}>
        {kind === "object" ? <ObjectFields {...props} /> : <ListFields {...props} />}
        {missing.includes(path) && (
          <p role="alert" className="text-xs text-bad-ink">
            This is needed.
          </p>
        )}
      </Group>
    );
  return (
    <Field
      label={<Name label={label} required={required} />}
      aside={typeName(schema, root)}
      hint={hint}
      error={missing.includes(path) ? "This is needed." : undefined}
    >
      {(wiring) => <Single {...props} wiring={wiring} />}
    </Field>
  );
}

const Name = ({ label, required }: { label: string; required: boolean }) => (
  <span className="font-mono text-xs">
    {label}
    {required && <span className="font-sans text-bad-ink"> *</span>}
    {required && <span className="sr-only"> required</span>}
  </span>
);

interface GroupProps {
  label: string;
  required: boolean;
  hint?: string;
  type: string;
  children: ReactNode;
}

const Group = ({ label, required, hint, type, children }: GroupProps) => (
  <fieldset className="flex min-w-0 flex-col gap-3 border-l-2 border-line pl-3.5">
    <legend className="contents">
      <span className="flex items-baseline justify-between gap-3">
        <Name label={label} required={required} />
        <span className="text-xs text-ink-faint">{type}</span>
      </span>
    </legend>
    {hint && <p className="-mt-1 text-xs text-ink-faint">{hint}</p>}
    {children}
  </fieldset>
);

function ListFields({ schema, root, value, onChange, path, missing }: PartProps) {
  const items = Array.isArray(value) ? value : [];
  const item = resolve(schema.items, root);
  const set = (next: unknown[]) => onChange(next.length > 0 ? next : undefined);
  return (
    <>
      {items.map((one, place) => (
        <div key={place} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <Part
              label={`${place + 1}`}
              required={false}
              schema={{ ...item, description: undefined }}
              root={root}
              value={one}
              onChange={(next) => set(items.with(place, next ?? emptyOf(item)))}
              path={`${path}[${place}]`}
              missing={missing}
            />
          </div>
          <IconButton
            size="sm"
            label={`Remove entry ${place + 1} of ${path}`}
            icon={<X />}
            onClick={() => set(items.toSpliced(place, 1))}
          />
        </div>
      ))}
      <Button
        size="sm"
        icon={<Plus />}
        className="self-start"
        onClick={() => set([...items, startOf(item, root) ?? emptyOf(item)])}
      >
        Add entry
      </Button>
    </>
  );
}

function emptyOf(schema: Schema): unknown {
  switch (kindOf(schema)) {
    case "text":
      return "";
    case "object":
      return {};
    case "list":
      return [];
    case "boolean":
      return false;
    case "choice":
      return (schema.enum as unknown[])[0];
    default:
      return null;
  }
}

type Wiring = { id: string; "aria-describedby"?: string; "aria-invalid"?: true };

function Single({ wiring, ...props }: NamedProps & { wiring: Wiring }) {
  switch (kindOf(props.schema)) {
    case "choice":
      return <Choice {...props} options={props.schema.enum as unknown[]} wiring={wiring} />;
    case "boolean":
      return <Choice {...props} options={[true, false]} wiring={wiring} />;
    case "number":
    case "integer":
      return <NumberInput {...props} wiring={wiring} />;
    case "text":
      return <TextInput {...props} wiring={wiring} />;
    default:
      return <JsonInput value={props.value} onChange={props.onChange} wiring={wiring} />;
  }
}

const NOTHING = "\0nothing";
const wordOf = (value: unknown): string =>
  value === true ? "Yes" : value === false ? "No" : typeof value === "string" ? value : JSON.stringify(value);

function Choice({
  value,
  onChange,
  required,
  options,
  wiring,
}: NamedProps & { options: unknown[]; wiring: Wiring }) {
  const place = options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
  return (
    <Select
      {...wiring}
      value={place < 0 ? (required ? "" : NOTHING) : String(place)}
      placeholder="Choose"
      onChange={(chosen) => onChange(chosen === NOTHING ? undefined : options[Number(chosen)])}
      options={[
        ...(required ? [] : [{ value: NOTHING, label: "Not given" }]),
        ...options.map((option, at) => ({ value: String(at), label: wordOf(option) })),
      ]}
    />
  );
}

function NumberInput({ schema, value, onChange, wiring }: NamedProps & { wiring: Wiring }) {
  const [text, setText] = useState(typeof value === "number" ? String(value) : "");
  const wrong = text !== "" && Number.isNaN(Number(text));
  return (
    <Input
      {...wiring}
      {...(wrong ? { "aria-invalid": true } : {})}
      inputMode={schema.type === "integer" ? "numeric" : "decimal"}
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        const number = Number(event.target.value);
        onChange(event.target.value.trim() === "" || Number.isNaN(number) ? undefined : number);
      }}
    />
  );
}

const LONG_NAMES = /text|content|body|message|prompt|query|code|sql|description|markdown|patch|diff/i;

function TextInput({ label, schema, value, onChange, required, wiring }: NamedProps & { wiring: Wiring }) {
  const props = {
    ...wiring,
    value: typeof value === "string" ? value : "",
    spellCheck: false,
    placeholder: schema.default === "" || !required ? "Not given" : undefined,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value || undefined),
  };
  return LONG_NAMES.test(label) ? <Textarea {...props} rows={2} /> : <Input {...props} />;
}

interface JsonInputProps {
  value: unknown;
  onChange: (value: unknown) => void;
  wiring: Wiring;
  rows?: number;
}

/** Any value, as JSON; while it is none, what was there before stays. */
export function JsonInput({ value, onChange, wiring, rows = 2 }: JsonInputProps) {
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  const [wrong, setWrong] = useState<string | null>(null);
  const take = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next));
      setWrong(null);
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <>
      <Textarea
        {...wiring}
        {...(wrong ? { "aria-invalid": true } : {})}
        rows={rows}
        spellCheck={false}
        value={text}
        placeholder="JSON"
        onChange={(event) => take(event.target.value)}
        className="font-mono text-xs"
      />
      {wrong && (
        <p role="alert" className="text-xs text-bad-ink">
          This is no JSON yet: {wrong}
        </p>
      )}
    </>
  );
}
