import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, RotateCcw } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { ApiError } from "@/shared/api/client";
import { classes } from "@/shared/ui/classes";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { Spinner } from "@/shared/ui/Spinner";
import { Switch } from "@/shared/ui/Switch";
import { Textarea } from "@/shared/ui/Textarea";
import { asText, bounds, check } from "./check";
import { changeSetting, type Setting, settingList } from "./queries";
import { spoken, wordsOf } from "./words";

const SAID = 2500;

/** One setting: what it is called, what it means, its default, and a control that saves at once. */
export function SettingRow({ setting }: { setting: Setting }) {
  const id = useId();
  const words = wordsOf(setting);
  const [error, setError] = useState<string | null>(null);
  const save = useSave(setting, setError);
  const isDefault = asText(setting.value) === asText(setting.default);
  const wiring = {
    id,
    "aria-describedby": error ? `${id}-error` : `${id}-about`,
    "aria-invalid": error ? (true as const) : undefined,
  };
  return (
    <div className="grid gap-x-8 gap-y-2 border-b border-line px-4 py-3.5 last:border-0 md:grid-cols-[1fr_17rem]">
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm font-medium">
          {words.label}
        </label>
        <p id={`${id}-about`} className="mt-0.5 text-sm text-ink-soft">
          {setting.description} <span className="text-ink-faint">{bounds(setting)}</span>
        </p>
      </div>
      <div className="flex min-w-0 flex-col gap-1.5">
        <Control setting={setting} wiring={wiring} onSave={save.mutate} onError={setError} />
        {error && (
          <p id={`${id}-error`} role="alert" className="text-xs text-bad-ink">
            {error}
          </p>
        )}
        <div className="flex min-h-5 items-center gap-2 text-xs text-ink-faint">
          {isDefault ? (
            <span>The default</span>
          ) : (
            <button
              type="button"
              onClick={() => save.mutate(null)}
              className="inline-flex items-center gap-1 rounded-xs text-left text-accent-ink hover:underline"
            >
              <RotateCcw aria-hidden className="size-3 shrink-0" />
              <span>
                Reset<span className="sr-only"> {words.label}</span> to {spoken(setting, setting.default)}
              </span>
            </button>
          )}
          <Said busy={save.isPending} done={save.isSuccess} at={save.submittedAt} />
        </div>
      </div>
    </div>
  );
}

function useSave(setting: Setting, onError: (text: string | null) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (value: unknown) => changeSetting(setting.name, value),
    onMutate: () => onError(null),
    onSuccess: (all) =>
      cache.setQueryData(settingList.queryKey, (list) =>
        list?.map((one) => ({ ...one, value: (all as Record<string, unknown>)[one.name] })),
      ),
    onError: (error) => onError(told(error)),
  });
}

/** What the hub says is wrong, without the setting's name: it stands at its field. */
function told(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError && error.hint ? ` ${error.hint}` : "";
  return text.replace(/^Setting [\w.]+: /, "") + hint;
}

/** "Saved", for a moment. */
function Said({ busy, done, at }: { busy: boolean; done: boolean; at: number }) {
  const [over, setOver] = useState(0);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setOver(at), SAID);
    return () => clearTimeout(timer);
  }, [done, at]);
  return (
    <span role="status" className="ml-auto inline-flex items-center gap-1 text-good-ink">
      {busy && <Spinner label="Saving" />}
      {done && over !== at && (
        <>
          <Check aria-hidden className="size-3" /> Saved
        </>
      )}
    </span>
  );
}

interface ControlProps {
  setting: Setting;
  wiring: { id: string; "aria-describedby": string; "aria-invalid"?: true };
  onSave: (value: unknown) => void;
  onError: (text: string | null) => void;
}

function Control({ setting, wiring, onSave, onError }: ControlProps) {
  if (setting.kind === "boolean")
    return (
      <span className="flex h-8.5 items-center gap-2.5 text-sm text-ink-soft">
        <Switch id={wiring.id} checked={setting.value === true} onChange={onSave} />
        {setting.value ? "On" : "Off"}
      </span>
    );
  if (setting.kind === "choice")
    return (
      <Select
        {...wiring}
        value={String(setting.value)}
        options={
          setting.choices?.map((value) => ({
            value,
            label: wordsOf(setting).choices?.[value] ?? value,
          })) ?? []
        }
        onChange={onSave}
      />
    );
  return <Written setting={setting} wiring={wiring} onSave={onSave} onError={onError} />;
}

/** Numbers and texts: Enter or leaving the field saves, Escape takes back. */
function Written({ setting, wiring, onSave, onError }: ControlProps) {
  const words = wordsOf(setting);
  const kept = asText(setting.value);
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const commit = () => {
    if (text.trim() === kept) return onError(null);
    const checked = check(setting, text);
    if ("error" in checked) onError(checked.error);
    else onSave(checked.value);
  };
  const shared = {
    ...wiring,
    value: text,
    placeholder: words.example ?? words.empty,
    onBlur: commit,
    onChange: (event: { target: { value: string } }) => setText(event.target.value),
  };
  const undo = () => {
    setText(kept);
    onError(null);
  };
  if (setting.kind === "list" || words.long)
    return (
      <Textarea
        {...shared}
        rows={2}
        className={classes("min-h-16", setting.kind === "list" && "font-mono text-xs")}
        onKeyDown={(event) => event.key === "Escape" && undo()}
      />
    );
  const isNumber = setting.kind !== "text";
  return (
    <WithUnit unit={words.unit} aside={meaning(setting, text)}>
      <Input
        {...shared}
        inputMode={isNumber ? "decimal" : undefined}
        spellCheck={false}
        className={classes(isNumber && "tabular-nums", words.unit === "$" && "pl-6.5")}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          if (event.key === "Escape") undo();
        }}
      />
    </WithUnit>
  );
}

/** What the number that is being written would mean. */
function meaning(setting: Setting, text: string): string | null {
  const checked = check(setting, text);
  const means = wordsOf(setting).means;
  if (!means || "error" in checked || typeof checked.value !== "number") return null;
  const said = means(checked.value);
  return said === `${checked.value} ${wordsOf(setting).unit}` ? null : said;
}

function WithUnit({ unit, aside, children }: { unit?: string; aside: string | null; children: ReactNode }) {
  if (unit === "$")
    return (
      <span className="relative block">
        <span aria-hidden className="absolute top-1/2 left-3 -translate-y-1/2 text-sm text-ink-faint">
          $
        </span>
        {children}
      </span>
    );
  return (
    <span className="flex items-center gap-2.5">
      <span className="min-w-0 flex-1">{children}</span>
      {(unit || aside) && (
        <span className="w-24 shrink-0 text-xs text-ink-faint">
          {unit}
          {aside && <span className="text-ink-soft">{unit ? ` = ${aside}` : aside}</span>}
        </span>
      )}
    </span>
  );
}
