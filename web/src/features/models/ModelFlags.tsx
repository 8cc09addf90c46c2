import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useId } from "react";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Switch } from "@/shared/ui/Switch";
import type { Draft } from "./draft";
import type { ModelFormProps } from "./ModelForm";
import { modelList } from "./queries";
import { MODALITIES } from "./words";

/** What a model can do and costs. Found out for well-known models, so it is folded for a new one. */
export function ModelFlags(props: ModelFormProps) {
  const { draft, errors, old, onChange } = props;
  const opened =
    old !== undefined || ["context", "modalities", "price", "fallbacks"].some((at) => errors[at]);
  return (
    <details open={opened} className="group rounded-lg border border-line">
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded-lg px-3.5 py-2.5 text-sm font-medium select-none">
        <ChevronRight
          aria-hidden
          className="size-4 text-ink-faint transition-transform duration-(--quick) group-open:rotate-90"
        />
        What it can do and costs
        <span className="ml-auto text-xs font-normal text-ink-faint max-sm:hidden">
          Mostly found out by itself
        </span>
      </summary>
      <div className="flex flex-col gap-4 px-3.5 pt-1 pb-4">
        <ToolSwitch checked={draft.toolCall} onChange={(toolCall) => onChange({ toolCall })} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Context" hint="Tokens that it takes at once." error={errors.context}>
            {(wiring) => (
              <Input
                {...wiring}
                inputMode="numeric"
                value={draft.context}
                placeholder="Found out, or 32000"
                onChange={(event) => onChange({ context: event.target.value })}
              />
            )}
          </Field>
          <Modalities {...props} />
        </div>
        <Prices {...props} />
        <Fallbacks {...props} />
      </div>
    </details>
  );
}

function ToolSwitch({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="text-sm font-medium">
          Calls tools
        </label>
        <p className="text-xs text-ink-faint">Without it, it gets no tools and answers in one pass.</p>
      </div>
      <Switch id={id} checked={checked} onChange={onChange} />
    </div>
  );
}

const without = (list: readonly string[], value: string) => list.filter((one) => one !== value);

function Modalities({ draft, errors, onChange }: ModelFormProps) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Reads</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1.5 pt-1">
        {MODALITIES.map(({ value, label }) => (
          <Checkbox
            key={value}
            label={label}
            checked={draft.modalities.includes(value)}
            onChange={(on) =>
              onChange({ modalities: on ? [...draft.modalities, value] : without(draft.modalities, value) })
            }
          />
        ))}
      </div>
      <p className="mt-1 text-xs text-ink-faint">
        {errors.modalities ?? (draft.modalities.length === 0 && "None ticked: found out.")}
      </p>
    </fieldset>
  );
}

const PRICES = [
  { key: "priceIn", label: "Input" },
  { key: "priceOut", label: "Output" },
  { key: "priceCached", label: "Cached input" },
] as const satisfies readonly { key: keyof Draft; label: string }[];

function Prices({ draft, errors, onChange }: ModelFormProps) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Price in dollars for a million tokens</legend>
      <div className="grid grid-cols-3 gap-3">
        {PRICES.map(({ key, label }) => (
          <Field key={key} label={<span className="text-xs font-normal text-ink-soft">{label}</span>}>
            {(wiring) => (
              <Input
                {...wiring}
                inputMode="decimal"
                value={draft[key]}
                onChange={(event) => onChange({ [key]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      {errors.price && (
        <p role="alert" className="mt-1 text-xs text-bad-ink">
          {errors.price}
        </p>
      )}
    </fieldset>
  );
}

/** In the order in which they were ticked. */
function Fallbacks({ draft, errors, old, onChange }: ModelFormProps) {
  const models = useQuery(modelList);
  const others = (models.data ?? []).filter((one) => one.id !== old?.id && one.provider !== "demo");
  if (others.length === 0) return null;
  const place = (name: string) => draft.fallbacks.indexOf(name);
  return (
    <fieldset>
      <legend className="text-sm font-medium">When it fails, ask</legend>
      <p className="mb-1.5 text-xs text-ink-faint">In the order in which you tick them.</p>
      <div className="flex max-h-40 flex-col gap-1.5 overflow-y-auto">
        {others.map((one) => {
          const named = draft.fallbacks.find((name) => name === one.name || name === one.id);
          return (
            <Checkbox
              key={one.id}
              label={named ? `${one.name} (${place(named) + 1})` : one.name}
              checked={named !== undefined}
              onChange={(on) =>
                onChange({
                  fallbacks: on ? [...draft.fallbacks, one.name] : without(draft.fallbacks, named ?? ""),
                })
              }
            />
          );
        })}
      </div>
      {errors.fallbacks && (
        <p role="alert" className="mt-1 text-xs text-bad-ink">
          {errors.fallbacks}
        </p>
      )}
    </fieldset>
  );
}
