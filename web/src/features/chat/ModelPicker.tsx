import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ChevronDown, Cpu, Settings2 } from "lucide-react";
import { modelList } from "@/features/models/queries";
import { providerName } from "@/features/models/words";
import { Button } from "@/shared/ui/Button";
import { Menu, type MenuEntry } from "@/shared/ui/Menu";

interface ModelPickerProps {
  /** Null: the default one. */
  value: string | null;
  onChange: (model: string | null) => void;
}

/** Which model answers in this conversation. */
export function ModelPicker({ value, onChange }: ModelPickerProps) {
  const models = useQuery(modelList).data ?? [];
  const navigate = useNavigate();
  const usual = models.find((one) => one.default);
  const chosen = value === null ? usual : models.find((one) => one.id === value || one.name === value);
  const entries: MenuEntry[] = [
    { heading: "Model of this conversation" },
    {
      label: "Default",
      hint: usual?.name,
      icon: <Cpu />,
      checked: value === null,
      onSelect: () => onChange(null),
    },
    ...models.map((one) => ({
      label: one.name,
      hint: providerName(one.provider),
      icon: <Cpu />,
      checked: value !== null && one.id === chosen?.id,
      onSelect: () => onChange(one.id),
    })),
    "line",
    { label: "Add a model", icon: <Settings2 />, onSelect: () => void navigate({ to: "/models" }) },
  ];
  const name = chosen?.name ?? value ?? "Model";
  return (
    <Menu
      align="start"
      side="top"
      entries={entries}
      trigger={
        <Button size="sm" tone="quiet" aria-label={`Model: ${name}`} className="min-w-0 shrink! px-2!">
          <span className="max-w-44 truncate max-sm:max-w-32" title={name}>
            {name}
          </span>
          <ChevronDown aria-hidden className="size-3.5!" />
        </Button>
      }
    />
  );
}
