import { useState } from "react";
import { formatNumber } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { SearchInput } from "@/shared/ui/SearchInput";
import type { Tool } from "../queries";
import { useToolPreference } from "./preferences";
import { ToolRow } from "./ToolRow";

const PAGE = 100;

/** The tools of a server, or the built-in ones: search, switch, look, try. */
export function ToolViewer({ tools }: { tools: readonly Tool[] }) {
  const [wanted, setWanted] = useState("");
  const [most, setMost] = useState(PAGE);
  const preference = useToolPreference();
  const shown = matching(tools, wanted);
  const on = shown.filter((tool) => tool.enabled);
  const off = shown.filter((tool) => !tool.enabled);
  const tokens = tools.filter((tool) => tool.enabled).reduce((sum, tool) => sum + (tool.tokens ?? 0), 0);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <SearchInput label="Search tools" value={wanted} onChange={setWanted} className="w-full sm:w-72" />
        <p
          className="text-xs text-ink-soft tabular-nums"
          title="What the definitions of the tools that are on take in every request"
        >
          {tools.filter((tool) => tool.enabled).length} of {tools.length} on · about {formatNumber(tokens)}{" "}
          tokens
        </p>
        <div className="ml-auto flex gap-2">
          <Button
            size="sm"
            disabled={off.length === 0}
            busy={preference.isPending && preference.variables.tools.length > 1}
            onClick={() => preference.mutate({ tools: off, enabled: true })}
          >
            {wanted ? "Found on" : "All on"}
          </Button>
          <Button
            size="sm"
            disabled={on.length === 0}
            onClick={() => preference.mutate({ tools: on, enabled: false })}
          >
            {wanted ? "Found off" : "All off"}
          </Button>
        </div>
      </div>
      <Card flush className="overflow-hidden">
        <ul aria-label="Tools" className="-mt-1 divide-y divide-line">
          {shown.slice(0, most).map((tool) => (
            <ToolRow key={tool.fullName} tool={tool} />
          ))}
        </ul>
        {shown.length === 0 && (
          <p className="px-4 py-8 text-center text-sm text-ink-soft">No tool matches “{wanted}”.</p>
        )}
        {shown.length > most && (
          <button
            type="button"
            className="w-full border-t border-line py-2 text-sm text-ink-soft hover:bg-hover"
            onClick={() => setMost(most + PAGE * 5)}
          >
            Show more of {shown.length}
          </button>
        )}
      </Card>
    </div>
  );
}

/** Every word must be found in its name or its description. */
export function matching(tools: readonly Tool[], wanted: string): Tool[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return tools.filter((tool) => {
    const text = `${tool.fullName} ${tool.annotations.title ?? ""} ${tool.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
