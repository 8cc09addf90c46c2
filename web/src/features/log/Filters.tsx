import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useDeferredValue, useEffect, useId, useState } from "react";
import { channelList } from "@/features/chat/queries";
import { formatServer } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Input } from "@/shared/ui/Input";
import { SearchInput } from "@/shared/ui/SearchInput";
import { Select } from "@/shared/ui/Select";
import { STATES } from "@/shared/ui/StateDot";
import { type CallFilter, callStats } from "./queries";

const ANY = "*";
const MONTH = 30 * 86_400;
const STATUSES = ["pending", "success", "error", "timeout", "cancelled", "denied"] as const;

interface FiltersProps {
  filter: CallFilter;
  /** Names of tools that are worth suggesting. */
  tools: readonly string[];
  onChange: (filter: CallFilter) => void;
}

/** What of the log is shown. */
export function Filters({ filter, tools, onChange }: FiltersProps) {
  const channels = useQuery(channelList).data ?? [];
  const servers = useQuery(callStats(MONTH)).data?.servers.map((one) => one.server) ?? [];
  const names = filter.server && !servers.includes(filter.server) ? [filter.server, ...servers] : servers;
  const set = (change: Partial<CallFilter>) => onChange({ ...filter, ...change });
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <search aria-label="Filter the log" className="flex flex-wrap items-center gap-2">
      <Typed value={filter.q ?? ""} onChange={(q) => set({ q: q || undefined })}>
        {(value, type) => (
          <SearchInput
            label="Search the calls"
            placeholder="Search names, arguments, results"
            value={value}
            onChange={type}
            className="w-full sm:w-64 sm:flex-1"
          />
        )}
      </Typed>
      <Choice
        label="Server"
        value={filter.server}
        options={names.map((name) => ({ value: name, label: formatServer(name) }))}
        onChange={(server) => set({ server })}
      />
      <ToolInput value={filter.tool} names={tools} onChange={(tool) => set({ tool })} />
      <Choice
        label="State"
        value={filter.status}
        options={STATUSES.map((value) => ({ value, label: STATES[value]?.word ?? value }))}
        onChange={(status) => set({ status: STATUSES.find((one) => one === status) })}
      />
      <Choice
        label="Channel"
        value={filter.channel_id}
        options={channels.map((channel) => ({ value: channel.id, label: channel.name || channel.id }))}
        onChange={(channel_id) => set({ channel_id })}
      />
      {filter.run && (
        <Button size="sm" icon={<X />} onClick={() => set({ run: undefined })}>
          One run only
        </Button>
      )}
      {isFiltered && (
        <Button size="sm" tone="quiet" onClick={() => onChange({})}>
          Clear all
        </Button>
      )}
    </search>
  );
}

interface ChoiceProps {
  label: string;
  value: string | undefined;
  options: { value: string; label: string }[];
  onChange: (value: string | undefined) => void;
}

const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <Select
    label={label}
    value={value ?? ANY}
    options={[{ value: ANY, label: `Any ${label.toLowerCase()}` }, ...options]}
    onChange={(next) => onChange(next === ANY ? undefined : next)}
    className="w-auto! max-w-44 min-w-28 max-sm:flex-1"
  />
);

function ToolInput({
  value,
  names,
  onChange,
}: {
  value?: string;
  names: readonly string[];
  onChange: (tool?: string) => void;
}) {
  const id = useId();
  return (
    <Typed value={value ?? ""} onChange={(tool) => onChange(tool || undefined)}>
      {(typed, type) => (
        <>
          <Input
            aria-label="Tool"
            placeholder="Any tool"
            list={id}
            value={typed}
            onChange={(event) => type(event.target.value)}
            className="w-36! max-sm:flex-1"
          />
          <datalist id={id}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Typed>
  );
}

const PAUSE = 250;

interface TypedProps {
  value: string;
  onChange: (value: string) => void;
  children: (value: string, type: (value: string) => void) => React.ReactNode;
}

/** What is typed counts when the hands rest for a moment. */
function Typed({ value, onChange, children }: TypedProps) {
  const [typed, setTyped] = useState(value);
  const settled = useDeferredValue(typed);
  useEffect(() => setTyped(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing counts
  useEffect(() => {
    if (settled === value) return;
    const timer = setTimeout(() => onChange(settled.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [settled]);
  return children(typed, setTyped);
}
