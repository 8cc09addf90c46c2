import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { channelList } from "@/features/chat/queries";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { type Draft, type FieldErrors, NEW_CHANNEL } from "./draft";
import { LimitFields } from "./LimitFields";
import type { Task } from "./queries";
import { ScheduleFields } from "./ScheduleFields";
import { WorkFields } from "./WorkFields";

export interface FormProps {
  draft: Draft;
  errors: FieldErrors;
  old?: Task;
  onChange: (changes: Partial<Draft>) => void;
}

const LIMITS = [
  "overlap",
  "missed",
  "missed_window_s",
  "jitter_s",
  "retries",
  "retry_delay_s",
  "max_failures",
  "timeout_s",
  "auto_delete_sec",
];

export function TaskForm(props: FormProps) {
  const { draft, errors, onChange } = props;
  return (
    <div className="flex flex-col gap-6">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Name" hint="Made of what it does when left empty." error={errors.name}>
          {(wiring) => (
            <Input
              {...wiring}
              value={draft.name}
              maxLength={200}
              placeholder="Morning report"
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
        <ChannelField {...props} />
      </div>
      <Group title="When">
        <ScheduleFields {...props} />
      </Group>
      <Group title="What">
        <WorkFields {...props} />
      </Group>
      <details className="group" open={LIMITS.some((name) => errors[name]) || undefined}>
        <summary className="flex w-fit list-none items-center gap-1.5 rounded-xs text-sm font-medium text-ink-soft hover:text-ink">
          <ChevronRight aria-hidden className="size-4 transition-transform group-open:rotate-90" />
          When it is late, fails, or takes long
        </summary>
        <div className="mt-4">
          <LimitFields {...props} />
        </div>
      </details>
    </div>
  );
}

const Group = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className="flex min-w-0 flex-col gap-4">
    <legend className="contents">
      <span className="border-b border-line pb-1.5 text-xs font-semibold tracking-wide text-ink-faint uppercase">
        {title}
      </span>
    </legend>
    {children}
  </fieldset>
);

function ChannelField({ draft, errors, old, onChange }: FormProps) {
  const channels = useQuery(channelList).data ?? [];
  const roots = channels.filter((one) => one.parent_id === null || one.id === draft.channelId);
  const options = roots.map((one) => ({
    value: one.id,
    label: one.name,
    hint: one.dir_path ?? undefined,
  }));
  const fresh = { value: NEW_CHANNEL, label: "A new channel, “Tasks”", hint: undefined };
  return (
    <Field
      label="Channel"
      hint={old ? "It stays where it was made." : "Its directory, model and permissions hold."}
      error={errors.channel_id}
    >
      {(wiring) => (
        <Select
          {...wiring}
          value={draft.channelId}
          disabled={old !== undefined}
          options={old ? options : [...options, fresh]}
          onChange={(channelId) => onChange({ channelId })}
        />
      )}
    </Field>
  );
}
