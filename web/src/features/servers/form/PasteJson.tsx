import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useState } from "react";
import { ApiError, api, read, type Schemas } from "@/shared/api/client";
import { Badge, type Mood } from "@/shared/ui/Badge";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Textarea } from "@/shared/ui/Textarea";
import { VisibleText } from "@/shared/ui/VisibleText";
import { placeOf } from "../draft";
import type { Server } from "../queries";

export type Item = Schemas["ServerImportedItem"];
export interface Pasted {
  text: string;
  name: string;
}

const EXAMPLE = `{
  "mcpServers": {
    "memory": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-memory"]
    }
  }
}`;
const PAUSE = 250;

export const importBody = ({ text, name }: Pasted, dryRun: boolean): Schemas["ServerImport"] => ({
  text,
  source: "paste",
  name: name.trim() || undefined,
  dry_run: dryRun,
});

/** What an import would do, read while one writes. */
export function usePreview(pasted: Pasted) {
  const [settled, setSettled] = useState(pasted);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(pasted), PAUSE);
    return () => clearTimeout(timer);
  }, [pasted]);
  const preview = useQuery({
    queryKey: ["servers", "preview", settled],
    queryFn: () => read(api.POST("/api/servers/import", { body: importBody(settled, true) })),
    enabled: settled.text.trim() !== "",
    retry: false,
    gcTime: 0,
  });
  return { ...preview, isCurrent: settled === pasted };
}

interface PasteJsonProps {
  pasted: Pasted;
  onChange: (pasted: Pasted) => void;
  preview: ReturnType<typeof usePreview>;
}

/** The configuration of another client: a whole file, or one entry of it. */
export function PasteJson({ pasted, onChange, preview }: PasteJsonProps) {
  const shown = useDeferredValue(preview.data);
  const nameless = preview.error instanceof ApiError && /without a name/.test(preview.error.message);
  return (
    <div className="flex flex-col gap-4">
      <Field
        label="JSON"
        hint="The mcpServers of Claude Desktop, Cursor, VS Code and others: a whole file, or one entry."
        error={preview.error && !nameless && pasted.text.trim() ? said(preview.error) : undefined}
      >
        {(wiring) => (
          <Textarea
            {...wiring}
            rows={10}
            autoFocus
            spellCheck={false}
            placeholder={EXAMPLE}
            value={pasted.text}
            onChange={(event) => onChange({ ...pasted, text: event.target.value })}
            className="font-mono text-xs"
          />
        )}
      </Field>
      {(nameless || pasted.name) && (
        <Field label="Name" hint="This is one entry without a name of its own: what shall it be called?">
          {(wiring) => (
            <Input
              {...wiring}
              value={pasted.name}
              spellCheck={false}
              onChange={(event) => onChange({ ...pasted, name: event.target.value })}
            />
          )}
        </Field>
      )}
      {shown && !preview.error && <Preview report={shown} />}
    </div>
  );
}

const said = (error: Error): string =>
  error instanceof ApiError && error.hint ? `${error.message} ${error.hint}` : error.message;

function Preview({ report }: { report: Schemas["ServerImported"] }) {
  return (
    <section aria-label="What will happen" className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">What will happen</h3>
      {report.items.length === 0 && <p className="text-sm text-ink-soft">There is no server in it.</p>}
      <ul className="flex flex-col gap-2">
        {report.items.map((item) => (
          <PreviewItem key={item.name} item={item} />
        ))}
      </ul>
      {report.warnings?.map((warning) => (
        <p key={warning} className="text-xs text-warn-ink">
          {warning}
        </p>
      ))}
    </section>
  );
}

const ACTIONS: Record<Item["action"], { mood: Mood; word: string }> = {
  added: { mood: "good", word: "Will be added" },
  updated: { mood: "accent", word: "Will be replaced" },
  skipped: { mood: "neutral", word: "Left out" },
};

function PreviewItem({ item }: { item: Item }) {
  const { mood, word } = ACTIONS[item.action];
  const config = item.config as Server | null | undefined;
  const secrets = config ? [...Object.keys(config.env ?? {}), ...Object.keys(config.headers ?? {})] : [];
  return (
    <li className="rounded-md border border-line bg-sunken px-3 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium [overflow-wrap:anywhere]">
          <VisibleText text={item.name} />
        </span>
        <Badge mood={mood}>{word}</Badge>
        {config && <Badge>{config.transport}</Badge>}
      </div>
      {config && (
        <p className="mt-1 font-mono text-xs text-ink-soft [overflow-wrap:anywhere]">
          <VisibleText text={placeOf(config)} />
        </p>
      )}
      {secrets.length > 0 && (
        <p className="mt-0.5 text-xs text-ink-soft">With secrets for {secrets.join(", ")}.</p>
      )}
      {item.reason && <p className="mt-0.5 text-xs text-warn-ink [overflow-wrap:anywhere]">{item.reason}</p>}
      {item.notes?.map((note) => (
        <p key={note} className="mt-0.5 text-xs text-ink-soft [overflow-wrap:anywhere]">
          {note}
        </p>
      ))}
    </li>
  );
}
