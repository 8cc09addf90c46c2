import { KeyRound } from "lucide-react";
import { useId } from "react";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import type { Draft, FieldErrors } from "./draft";
import { ModelFlags } from "./ModelFlags";
import type { Model, Provider } from "./queries";
import { PROVIDERS, type ProviderId } from "./words";

export interface ModelFormProps {
  draft: Draft;
  errors: FieldErrors;
  old?: Model;
  providers: readonly Provider[];
  onChange: (changes: Partial<Draft>) => void;
}

export function ModelForm(props: ModelFormProps) {
  const { draft, errors, old, providers, onChange } = props;
  const known = providers.filter((one) => one.provider === draft.provider);
  const takesAddress = draft.provider === "openai-compatible" || draft.provider === "ollama";
  return (
    <div className="flex flex-col gap-4">
      {!old && (
        <Field label="Provider" error={errors.provider}>
          {(wiring) => (
            <Select
              {...wiring}
              value={draft.provider as Exclude<ProviderId, "demo">}
              options={PROVIDERS}
              onChange={(provider) => onChange({ provider, model: first(providers, provider), baseUrl: "" })}
            />
          )}
        </Field>
      )}
      {takesAddress && <AddressField {...props} />}
      <div className="grid gap-4 sm:grid-cols-2">
        <ModelName draft={draft} error={errors.model} known={known} onChange={onChange} />
        <Field label="Called" hint="What you call it; free to choose." error={errors.name}>
          {(wiring) => (
            <Input
              {...wiring}
              value={draft.name}
              placeholder={draft.model ? `${draft.provider}:${draft.model}` : undefined}
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
      </div>
      {draft.provider !== "ollama" && <KeyField {...props} known={known} />}
      <ModelFlags {...props} />
    </div>
  );
}

const first = (providers: readonly Provider[], id: ProviderId): string =>
  (id === "openai-compatible" ? "" : providers.find((one) => one.provider === id)?.models[0]) ?? "";

interface ModelNameProps {
  draft: Draft;
  error?: string;
  known: readonly Provider[];
  onChange: (changes: Partial<Draft>) => void;
}

/** Any name may be written; those that are known are suggested. */
function ModelName({ draft, error, known, onChange }: ModelNameProps) {
  const list = useId();
  const names = [...new Set(known.flatMap((one) => one.models))];
  return (
    <Field label="Model" hint="The provider's name for it." error={error}>
      {(wiring) => (
        <>
          <Input
            {...wiring}
            value={draft.model}
            list={list}
            autoComplete="off"
            spellCheck={false}
            required
            onChange={(event) => onChange({ model: event.target.value })}
          />
          <datalist id={list}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

function AddressField({ draft, errors, onChange }: ModelFormProps) {
  const isOllama = draft.provider === "ollama";
  return (
    <Field
      label="Address"
      hint={isOllama ? "Leave it empty for http://127.0.0.1:11434." : "Of its API; mostly it ends in /v1."}
      error={errors.base_url}
    >
      {(wiring) => (
        <Input
          {...wiring}
          type="url"
          inputMode="url"
          value={draft.baseUrl}
          placeholder={isOllama ? "http://127.0.0.1:11434" : "http://127.0.0.1:8000/v1"}
          onChange={(event) => onChange({ baseUrl: event.target.value })}
        />
      )}
    </Field>
  );
}

function KeyField({ draft, errors, old, known, onChange }: ModelFormProps & { known: readonly Provider[] }) {
  const found = known.find((one) => one.ready && one.key_variables.length > 0);
  const kept = old?.has_key && !draft.forgetKey;
  const hint = kept
    ? "A key is kept. Write another one to replace it."
    : found
      ? `Leave it empty to use the one in the environment (${found.key_variables.join(" or ")}).`
      : `Stored encrypted or in the system's keyring, and never shown again. \${VARIABLE} names one in the environment.`;
  return (
    <Field
      label="Key"
      hint={hint}
      error={errors.api_key}
      aside={
        old?.has_key && (
          <Checkbox
            label={<span className="text-xs">Forget the key</span>}
            checked={draft.forgetKey}
            onChange={(forgetKey) => onChange({ forgetKey, apiKey: "" })}
          />
        )
      }
    >
      {(wiring) => (
        <span className="relative block">
          <KeyRound
            aria-hidden
            className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-ink-faint"
          />
          <Input
            {...wiring}
            type="password"
            autoComplete="new-password"
            className="pl-9"
            value={draft.apiKey}
            disabled={draft.forgetKey}
            placeholder={kept ? "••••••••••••" : undefined}
            onChange={(event) => onChange({ apiKey: event.target.value })}
          />
        </span>
      )}
    </Field>
  );
}
