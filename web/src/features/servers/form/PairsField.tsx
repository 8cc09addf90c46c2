import { Plus, X } from "lucide-react";
import { useRef } from "react";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Input } from "@/shared/ui/Input";
import { MASK, type Pair } from "../draft";

interface PairsFieldProps {
  legend: string;
  /** "variable", "header" */
  noun: string;
  hint: string;
  pairs: readonly Pair[];
  onChange: (pairs: Pair[]) => void;
}

/** Names with secret values. A value that is stored is never shown; left alone, it is kept. */
export function PairsField({ legend, noun, hint, pairs, onChange }: PairsFieldProps) {
  const box = useRef<HTMLFieldSetElement>(null);
  const change = (place: number, part: Partial<Pair>) =>
    onChange(pairs.map((pair, one) => (one === place ? { ...pair, ...part } : pair)));
  const add = () => {
    onChange([...pairs, { name: "", value: "" }]);
    requestAnimationFrame(() => box.current?.querySelector<HTMLInputElement>("li:last-child input")?.focus());
  };
  return (
    <fieldset ref={box} className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      {pairs.length > 0 && (
        <ul className="flex flex-col gap-2">
          {pairs.map((pair, place) => (
            <li key={place} className="flex items-start gap-2">
              <Input
                aria-label={`Name of ${noun} ${place + 1}`}
                placeholder="NAME"
                value={pair.name}
                onChange={(event) => change(place, { name: event.target.value })}
                className="font-mono text-xs"
                spellCheck={false}
              />
              <SecretInput
                label={`Value of ${pair.name || `${noun} ${place + 1}`}`}
                value={pair.value}
                onChange={(value) => change(place, { value })}
              />
              <IconButton
                label={`Remove ${pair.name || `${noun} ${place + 1}`}`}
                icon={<X />}
                onClick={() => onChange(pairs.filter((_, one) => one !== place))}
              />
            </li>
          ))}
        </ul>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" icon={<Plus />} onClick={add}>
          Add {noun}
        </Button>
        <p className="text-xs text-ink-faint">{hint}</p>
      </div>
    </fieldset>
  );
}

interface SecretInputProps {
  label?: string;
  id?: string;
  value: string;
  placeholder?: string;
  onChange: (value: string) => void;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** A secret: dots while it is written; one that is stored stays as it is until something is written over it. */
export function SecretInput({ label, value, placeholder = "value", onChange, ...wiring }: SecretInputProps) {
  const kept = value === MASK;
  return (
    <Input
      {...wiring}
      aria-label={label}
      type={kept || /^\$\{[^}]*\}$/.test(value) ? "text" : "password"}
      autoComplete="new-password"
      value={kept ? "" : value}
      placeholder={kept ? `${MASK} kept` : placeholder}
      onChange={(event) => onChange(event.target.value === "" && kept ? MASK : event.target.value)}
      className="font-mono text-xs"
      spellCheck={false}
    />
  );
}
