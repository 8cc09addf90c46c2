import { useId, useMemo } from "react";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Segmented } from "@/shared/ui/Segmented";
import { scheduleOf } from "./draft";
import { PreviewCard } from "./PreviewCard";
import { readSpan } from "./spans";
import type { FormProps } from "./TaskForm";
import { usePreview } from "./usePreview";

const TYPES = [
  { value: "cron", label: "At times" },
  { value: "interval", label: "Every so often" },
  { value: "once", label: "Once" },
  { value: "manual", label: "By hand" },
] as const;

const CRONS = [
  ["0 9 * * *", "Daily at 9"],
  ["0 9 * * mon-fri", "Weekdays at 9"],
  ["0 * * * *", "Every hour"],
  ["0 9 * * mon", "Mondays at 9"],
  ["0 6 1 * *", "First of the month"],
] as const;
const SPANS = [
  ["10m", "10 minutes"],
  ["1h", "1 hour"],
  ["6h", "6 hours"],
  ["1d", "1 day"],
] as const;

export function ScheduleFields(props: FormProps) {
  const { draft, old, onChange } = props;
  const preview = usePreview({
    type: draft.type,
    schedule: scheduleOf(draft, old),
    timezone: draft.timezone.trim(),
    jitter_s: draft.type === "manual" ? 0 : (readSpan(draft.jitter) ?? 0),
  });
  const errors = { ...preview.errors, ...props.errors };
  return (
    <>
      <Segmented
        label="Kind of schedule"
        value={draft.type}
        options={TYPES}
        onChange={(type) => onChange({ type })}
      />
      {draft.type === "manual" ? (
        <p className="text-sm text-ink-soft">
          It runs when you press <em>Run now</em>, or when an agent starts it.
        </p>
      ) : (
        <div className="grid gap-x-5 gap-y-4 sm:grid-cols-2">
          <div className="flex min-w-0 flex-col gap-4">
            <When {...props} error={errors.schedule} />
            <ZoneField {...props} error={errors.timezone} />
          </div>
          <PreviewCard {...preview} />
        </div>
      )}
    </>
  );
}

type WithError = FormProps & { error: string | undefined };

function When({ draft, error, onChange }: WithError) {
  if (draft.type === "once")
    return (
      <Field label="Date and time" error={error}>
        {(wiring) => (
          <Input
            {...wiring}
            type="datetime-local"
            value={draft.at}
            onChange={(event) => onChange({ at: event.target.value })}
          />
        )}
      </Field>
    );
  const isCron = draft.type === "cron";
  const set = (text: string) => onChange(isCron ? { cron: text } : { every: text });
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={isCron ? "Cron expression" : "Every"}
        hint={isCron ? "Minute, hour, day, month, weekday; or @daily." : "Such as 90s, 15m or 2h30m."}
        error={error}
      >
        {(wiring) => (
          <Input
            {...wiring}
            className="font-mono"
            spellCheck={false}
            autoComplete="off"
            value={isCron ? draft.cron : draft.every}
            onChange={(event) => set(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-1.5">
        {(isCron ? CRONS : SPANS).map(([text, label]) => (
          <button
            key={text}
            type="button"
            aria-pressed={text === (isCron ? draft.cron : draft.every)}
            onClick={() => set(text)}
            className="rounded-full border border-line px-2.5 py-0.5 text-xs text-ink-soft transition-colors duration-(--quick) hover:bg-hover hover:text-ink aria-pressed:border-accent-line aria-pressed:bg-accent-soft aria-pressed:text-accent-ink"
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}

function ZoneField({ draft, error, onChange }: WithError) {
  const list = useId();
  const zones = useMemo(() => [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])], []);
  return (
    <Field label="Time zone" error={error}>
      {(wiring) => (
        <>
          <Input
            {...wiring}
            list={list}
            spellCheck={false}
            autoComplete="off"
            value={draft.timezone}
            onChange={(event) => onChange({ timezone: event.target.value })}
          />
          <datalist id={list}>
            {zones.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
