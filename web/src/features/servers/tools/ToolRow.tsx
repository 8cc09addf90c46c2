import { ChevronRight, EyeOff, Globe, Pencil, TriangleAlert } from "lucide-react";
import { useId, useState } from "react";
import { formatNumber } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { classes } from "@/shared/ui/classes";
import { Switch } from "@/shared/ui/Switch";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { Tool } from "../queries";
import { useToolPreference } from "./preferences";
import { ToolDetails } from "./ToolDetails";

/** One line of a tool; opens to everything about it. */
export function ToolRow({ tool }: { tool: Tool }) {
  const [open, setOpen] = useState(false);
  const preference = useToolPreference();
  const id = useId();
  return (
    <li>
      <div className="flex items-start gap-3 px-4 py-2.5 hover:bg-hover/50">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
          className="flex min-w-0 flex-1 items-start gap-2.5 rounded-xs text-left"
        >
          <ChevronRight
            aria-hidden
            className={classes(
              "mt-0.5 size-4 shrink-0 text-ink-faint transition-transform duration-(--quick)",
              open && "rotate-90",
            )}
          />
          <span className="min-w-0 flex-1">
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <code
                className={classes(
                  "font-semibold [overflow-wrap:anywhere]",
                  !tool.enabled && "text-ink-faint",
                )}
              >
                <VisibleText text={tool.name} />
              </code>
              <ToolBadges tool={tool} />
            </span>
            {!open && tool.description && (
              <span className="mt-0.5 line-clamp-1 text-xs text-ink-soft [overflow-wrap:anywhere]">
                <VisibleText text={tool.description.slice(0, 300)} />
              </span>
            )}
          </span>
        </button>
        <span
          className="mt-0.5 text-xs text-ink-faint tabular-nums max-sm:hidden"
          title="About how many tokens its definition takes in every request"
        >
          {formatNumber(tool.tokens)} tokens
        </span>
        <Switch
          label={`${tool.name} on`}
          checked={tool.enabled}
          onChange={(enabled) => preference.mutate({ tools: [tool], enabled })}
        />
      </div>
      <div id={id} hidden={!open} className="border-t border-line bg-sunken/50">
        {open && <ToolDetails tool={tool} />}
      </div>
    </li>
  );
}

const POLICIES: Record<string, string> = { allow: "Always allowed", ask: "Asks", deny: "Denied" };

function ToolBadges({ tool }: { tool: Tool }) {
  const readOnly = tool.annotations.readOnlyHint === true;
  return (
    <>
      {readOnly && <Badge mood="good">Read-only</Badge>}
      {tool.saysDestructive && !readOnly && (
        <Badge mood="bad" icon={<TriangleAlert />}>
          Destructive
        </Badge>
      )}
      {tool.saysOpenWorld && <Badge icon={<Globe />}>Open world</Badge>}
      {tool.changed && (
        <Badge mood="warn" icon={<Pencil />}>
          Definition changed
        </Badge>
      )}
      {tool.policy && <Badge mood="accent">{POLICIES[tool.policy] ?? tool.policy}</Badge>}
      {!tool.offered && (
        <Badge mood={tool.enabled ? "warn" : "neutral"} icon={<EyeOff />} title={tool.reason}>
          {tool.enabled ? "Not offered" : "Off"}
        </Badge>
      )}
    </>
  );
}
