import { Bot, FileText, type LucideIcon, SlashSquare } from "lucide-react";
import { classes } from "@/shared/ui/classes";

export interface Suggestion {
  key: string;
  label: string;
  about: string;
  aside: string;
  kind: "command" | "agent" | "resource";
}

const ICONS: Record<Suggestion["kind"], LucideIcon> = {
  command: SlashSquare,
  agent: Bot,
  resource: FileText,
};

interface SuggestionsProps {
  id: string;
  items: readonly Suggestion[];
  chosen: number;
  empty: string | null;
  onPick: (place: number) => void;
  onHover: (place: number) => void;
}

/** What can be completed at the caret; the text field keeps the focus. */
export function Suggestions({ id, items, chosen, empty, onPick, onHover }: SuggestionsProps) {
  if (items.length === 0 && empty === null) return null;
  return (
    <div className="absolute inset-x-0 bottom-full z-20 mb-2 animate-rise overflow-hidden rounded-lg border border-line bg-raised shadow-lg">
      {items.length === 0 ? (
        <p className="px-3.5 py-2.5 text-sm text-ink-faint">{empty}</p>
      ) : (
        <div id={id} role="listbox" aria-label="Suggestions" className="max-h-72 overflow-y-auto p-1">
          {items.map((item, place) => (
            <div
              key={item.key}
              id={`${id}-${place}`}
              role="option"
              tabIndex={-1}
              aria-selected={place === chosen}
              onPointerDown={(event) => {
                event.preventDefault();
                onPick(place);
              }}
              onPointerMove={() => onHover(place)}
              className={classes(
                "flex cursor-pointer items-center gap-2.5 rounded-sm px-2.5 py-1.5 text-sm",
                place === chosen && "bg-hover",
              )}
            >
              <KindIcon kind={item.kind} />
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium" title={item.label}>
                  {item.label}
                </span>
                {item.about && (
                  <span className="block truncate text-xs text-ink-faint" title={item.about}>
                    {item.about}
                  </span>
                )}
              </span>
              <span className="max-w-32 shrink-0 truncate text-xs text-ink-faint">{item.aside}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function KindIcon({ kind }: Pick<Suggestion, "kind">) {
  const Icon = ICONS[kind];
  return <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />;
}
