import { Select } from "@/shared/ui/Select";
import type { Place } from "./queries";
import { useProjects } from "./useProjects";

const GLOBAL = "global";

/** Where a new workflow is kept: in the hub's home, or in a project. */
export function WherePicker({ place, onChange }: { place: Place; onChange: (place: Place) => void }) {
  const projects = useProjects();
  if (projects.length === 0) return null;
  const chosen = projects.find((one) => one.channelId === place.channel && place.scope === "project");
  return (
    <div className="w-52">
      <Select
        label="Kept in"
        value={chosen?.channelId ?? GLOBAL}
        options={[
          { value: GLOBAL, label: "Global", hint: "For every project" },
          ...projects.map((one) => ({ value: one.channelId, label: one.name, hint: one.path })),
        ]}
        onChange={(next) =>
          onChange(next === GLOBAL ? { channel: null, scope: "global" } : { channel: next, scope: "project" })
        }
      />
    </div>
  );
}
