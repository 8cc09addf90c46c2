import type { ReactNode } from "react";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { type Draft, hasThreads } from "./draft";
import type { FormProps } from "./TaskForm";

const OVERLAPS = [
  { value: "skip", label: "Skip the new one" },
  { value: "queue", label: "Let it wait its turn" },
  { value: "parallel", label: "Run both" },
] as const;
const MISSED = [
  { value: "run_once", label: "Run once to make up for it" },
  { value: "skip", label: "Leave it at that" },
] as const;

type Written = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];

export function LimitFields(props: FormProps) {
  const { draft, errors, onChange } = props;
  const text = (name: Written, field: string, label: string, hint: ReactNode) => (
    <Field label={label} hint={hint} error={errors[field]}>
      {(wiring) => (
        <Input
          {...wiring}
          spellCheck={false}
          value={draft[name]}
          onChange={(event) => onChange({ [name]: event.target.value } as Partial<Draft>)}
        />
      )}
    </Field>
  );
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="While an earlier run goes on" error={errors.overlap}>
        {(wiring) => (
          <Select
            {...wiring}
            value={draft.overlap}
            options={OVERLAPS}
            onChange={(overlap) => onChange({ overlap })}
          />
        )}
      </Field>
      {text("timeout", "timeout_s", "Longest run", "It is stopped after that: 20m, 1h.")}
      {draft.type !== "manual" && (
        <>
          <Field label="When its time was missed" hint="The hub was not running." error={errors.missed}>
            {(wiring) => (
              <Select
                {...wiring}
                value={draft.missed}
                options={MISSED}
                onChange={(missed) => onChange({ missed })}
              />
            )}
          </Field>
          {text("missedWindow", "missed_window_s", "Made up for within", "Older times are left alone.")}
        </>
      )}
      {text("retries", "retries", "Tries after a failure", "0 to 20.")}
      {text("retryDelay", "retry_delay_s", "Wait before the first", "Twice as long each time.")}
      {text("maxFailures", "max_failures", "Switched off after", "Failures in a row; 0: never.")}
      {draft.type !== "manual" &&
        text("jitter", "jitter_s", "Start up to this much later", "Spreads tasks of the same minute.")}
      {hasThreads(draft) && (
        <>
          {text("autoDelete", "auto_delete_sec", "Remove a run's thread after", "0s keeps it.")}
          <div className="flex items-center">
            <Checkbox
              checked={draft.keepReports}
              onChange={(keepReports) => onChange({ keepReports })}
              label="Keep threads that have something to report"
            />
          </div>
        </>
      )}
    </div>
  );
}
