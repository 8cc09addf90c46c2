import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { allTools } from "@/features/workflows/queries";
import { Button } from "@/shared/ui/Button";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import type { FormProps } from "./TaskForm";

/** The tools that its runs may use, as names and patterns. */
export function AllowField({ draft, errors, onChange }: FormProps) {
  const list = useId();
  const tools = useQuery(allTools).data ?? [];
  const [text, setText] = useState("");
  const add = () => {
    const fresh = text.split(/[\s,]+/).filter((one) => one && !draft.allow.includes(one));
    if (fresh.length > 0) onChange({ allow: [...draft.allow, ...fresh] });
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  };
  return (
    <div className="flex flex-col gap-2">
      <Field
        label="Tools allowed"
        hint="Without being asked. * stands for anything: mcp__github__*. What would ask is denied, and told in the history."
        error={errors.allow}
      >
        {(wiring) => (
          <div className="flex gap-2">
            <Input
              {...wiring}
              list={list}
              spellCheck={false}
              autoComplete="off"
              className="font-mono text-xs"
              placeholder="Name or pattern"
              value={text}
              onKeyDown={onKeyDown}
              onBlur={add}
              onChange={(event) => setText(event.target.value)}
            />
            <Button icon={<Plus />} disabled={!text.trim()} onClick={add}>
              Add
            </Button>
            <datalist id={list}>
              {tools.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </div>
        )}
      </Field>
      {draft.allow.length > 0 && (
        <ul aria-label="Tools allowed" className="flex flex-wrap gap-1.5">
          {draft.allow.map((name) => (
            <li
              key={name}
              className="inline-flex max-w-full items-center gap-1 rounded-full bg-hover py-0.5 pr-1 pl-2.5 font-mono text-xs"
            >
              <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
              <button
                type="button"
                aria-label={`Remove ${name}`}
                onClick={() => onChange({ allow: draft.allow.filter((one) => one !== name) })}
                className="grid size-4.5 shrink-0 place-items-center rounded-full text-ink-faint hover:bg-pressed hover:text-ink"
              >
                <X aria-hidden className="size-3" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
