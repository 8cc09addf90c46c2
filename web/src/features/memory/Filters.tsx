import { useEffect, useState } from "react";
import { Checkbox } from "@/shared/ui/Checkbox";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { AMOUNTS, type Asked, amountOf, TIMES, whenOf } from "./question";

interface FiltersProps {
  asked: Asked;
  onChange: (next: Partial<Asked>) => void;
}

const PAUSE = 300;

/** In which files, from when, and how it is looked for. */
export function Filters({ asked, onChange }: FiltersProps) {
  const when = whenOf(asked);
  return (
    <fieldset aria-label="Filters" className="flex flex-wrap items-center gap-x-3 gap-y-2.5">
      <PathFilter value={asked.path ?? ""} onChange={(path) => onChange({ path })} />
      <div className="w-36">
        <Select
          label="When the file was changed"
          value={when}
          options={TIMES}
          onChange={(next) => onChange({ when: next === "any" ? undefined : next })}
        />
      </div>
      {when === "dates" && (
        <span className="flex items-center gap-2 text-sm text-ink-faint">
          <DateInput label="From" value={asked.from} onChange={(from) => onChange({ from })} />
          to
          <DateInput label="To" value={asked.to} onChange={(to) => onChange({ to })} />
        </span>
      )}
      <div className="w-28">
        <Select
          label="How many"
          value={amountOf(asked)}
          options={AMOUNTS.map((value) => ({ value, label: `${value} hits` }))}
          onChange={(most) => onChange({ most })}
        />
      </div>
      <Checkbox
        label="Prefer newer"
        checked={asked.newer === "yes"}
        onChange={(on) => onChange({ newer: on ? "yes" : undefined })}
      />
      <Checkbox
        label="Words only"
        checked={asked.words === "yes"}
        onChange={(on) => onChange({ words: on ? "yes" : undefined })}
      />
    </fieldset>
  );
}

function PathFilter({ value, onChange }: { value: string; onChange: (path: string | undefined) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim() || undefined), PAUSE);
    return () => clearTimeout(timer);
  });
  return (
    <Input
      aria-label="Only in these files"
      placeholder="Files: docs/**, *.md"
      value={text}
      onChange={(event) => setText(event.target.value)}
      className="w-full sm:w-52"
    />
  );
}

interface DateInputProps {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

const DateInput = ({ label, value, onChange }: DateInputProps) => (
  <Input
    type="date"
    aria-label={label}
    value={value ?? ""}
    onChange={(event) => onChange(event.target.value || undefined)}
    className="w-36"
  />
);
