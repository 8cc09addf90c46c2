import { useMutation } from "@tanstack/react-query";
import { Ellipsis, KeyRound, Pencil, Star, Trash2, Wrench, Zap } from "lucide-react";
import { useState } from "react";
import { formatCompact } from "@/shared/format/format";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu, type MenuEntry } from "@/shared/ui/Menu";
import { toast } from "@/shared/ui/Toast";
import { type Model, makeDefault, removeModel } from "./queries";
import { TrialResult } from "./TrialResult";
import type { Test } from "./useTests";
import { MODALITIES, priceWords, providerName, SOURCES } from "./words";

interface ModelRowProps {
  model: Model;
  test: Test | undefined;
  onTest: () => void;
  onEdit: () => void;
}

export function ModelRow({ model, test, onTest, onEdit }: ModelRowProps) {
  const source = SOURCES[model.source];
  return (
    <li className="border-b border-line px-4 py-3.5 last:border-0">
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <h3 className="text-md font-semibold [overflow-wrap:anywhere]">{model.name}</h3>
            {model.default && (
              <Badge mood="accent" icon={<Star aria-hidden />}>
                Default
              </Badge>
            )}
            {source && (
              <Badge mood={source.mood} title={source.why}>
                {source.word}
              </Badge>
            )}
          </div>
          <p className="mt-0.5 text-sm text-ink-soft [overflow-wrap:anywhere]">
            {providerName(model.provider)}
            {model.provider !== "demo" && (
              <>
                {" · "}
                <code className="text-xs">{model.model}</code>
              </>
            )}
            {model.base_url && <span className="text-ink-faint"> at {model.base_url}</span>}
          </p>
        </div>
        <div className="flex shrink-0 items-center gap-1">
          <Button
            size="sm"
            icon={<Zap />}
            busy={test?.isPending ?? false}
            onClick={onTest}
            aria-label={`Test ${model.name}`}
          >
            Test
          </Button>
          <Actions model={model} onEdit={onEdit} />
        </div>
      </div>
      <Facts model={model} />
      {test && <TrialResult test={test} />}
    </li>
  );
}

/** What it can do and costs, in one line. */
function Facts({ model }: { model: Model }) {
  const reads = MODALITIES.filter(({ value }) => value !== "text" && model.modalities.includes(value));
  return (
    <ul className="mt-1.5 flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft [&_svg]:size-3.5 [&_svg]:text-ink-faint">
      <li className="flex items-center gap-1">
        <Wrench aria-hidden />
        {model.tool_call ? "Calls tools" : "No tools"}
      </li>
      <li title={`${model.context.toLocaleString()} tokens`}>{formatCompact(model.context)} context</li>
      {reads.length > 0 && (
        <li>Reads {reads.map(({ label }) => (label === "PDF" ? label : label.toLowerCase())).join(", ")}</li>
      )}
      {model.provider !== "demo" && (
        <li title="For a million tokens">
          {priceWords(model.price)}
          {model.price && <span className="text-ink-faint"> per million</span>}
        </li>
      )}
      {model.has_key && (
        <li className="flex items-center gap-1">
          <KeyRound aria-hidden />
          Key <span aria-hidden>••••</span> {model.source === "environment" ? "from the environment" : "kept"}
        </li>
      )}
      {model.fallbacks.length > 0 && <li>Falls back to {model.fallbacks.join(", then ")}</li>}
    </ul>
  );
}

function Actions({ model, onEdit }: { model: Model; onEdit: () => void }) {
  const [removing, setRemoving] = useState(false);
  const choose = useMutation({
    mutationFn: () => makeDefault(model.id),
    onSuccess: () => toast(`${model.name} is the default now`),
    onError: toast.error,
  });
  const entries: MenuEntry[] = [
    {
      label: "Make it the default",
      icon: <Star />,
      disabled: model.default,
      onSelect: () => choose.mutate(),
    },
  ];
  if (model.provider !== "demo") entries.push({ label: "Edit", icon: <Pencil />, onSelect: onEdit });
  if (model.source === "saved")
    entries.push("line", {
      label: "Remove",
      icon: <Trash2 />,
      danger: true,
      onSelect: () => setRemoving(true),
    });
  return (
    <>
      <Menu
        trigger={<IconButton size="sm" label={`More for ${model.name}`} icon={<Ellipsis />} />}
        entries={entries}
      />
      <AlertDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={`Remove ${model.name}?`}
        description="Its key is forgotten too. What was said with it stays."
        action="Remove"
        danger
        onConfirm={() => removeModel(model.id).catch(toast.error)}
      />
    </>
  );
}
