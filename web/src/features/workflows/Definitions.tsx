import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Folder, Play, Plus, TriangleAlert, Workflow } from "lucide-react";
import { useState } from "react";
import { Badge } from "@/shared/ui/Badge";
import { Button, buttonClasses } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SearchInput } from "@/shared/ui/SearchInput";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type Definition, definitionList } from "./queries";
import { RunDialog } from "./RunDialog";
import { type Project, useProjectDefinitions } from "./useProjects";

const MANY = 8;

/** What can be run: global workflows, and those of the projects that channels work in. */
export function Definitions() {
  const found = useQuery(definitionList(null));
  const projects = useProjectDefinitions();
  const [wanted, setWanted] = useState("");
  if (found.isPending) return <SkeletonRows />;
  if (found.isError)
    return (
      <ErrorState
        title="The workflows could not be read"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  const count = found.data.length + projects.reduce((sum, one) => sum + one.definitions.length, 0);
  if (count === 0)
    return (
      <Card>
        <EmptyState
          icon={<Workflow />}
          title="No workflows yet"
          action={
            <Link to="/workflows/edit" search={{}} className={buttonClasses("plain")}>
              <Plus aria-hidden /> Begin with an example
            </Link>
          }
        >
          A workflow is a text that names steps and what each of them needs: prompts, scripts, tools, loops,
          your approval. Agents can write them, too.
        </EmptyState>
      </Card>
    );
  const keep = (list: readonly Definition[]) =>
    list.filter((one) =>
      `${one.name} ${one.description}`.toLowerCase().includes(wanted.trim().toLowerCase()),
    );
  return (
    <div className="flex flex-col gap-5">
      {count > MANY && (
        <SearchInput label="Search workflows" value={wanted} onChange={setWanted} className="max-w-sm" />
      )}
      {projects.map(({ project, definitions }) => (
        <Group key={project.path} project={project} list={keep(definitions)} />
      ))}
      <Group list={keep(found.data)} />
    </div>
  );
}

function Group({ project, list }: { project?: Project; list: readonly Definition[] }) {
  if (list.length === 0) return null;
  return (
    <Card
      flush
      className="overflow-hidden"
      title={
        <span className="flex items-center gap-2">
          {project && <Folder aria-hidden className="size-4 text-ink-faint" />}
          {project ? project.name : "Global"}
        </span>
      }
      description={project ? project.path : "In every project, unless it has one of the same name."}
    >
      <ul
        aria-label={project ? `Workflows of ${project.name}` : "Global workflows"}
        className="divide-y divide-line"
      >
        {list.map((one) => (
          <Row key={one.path} definition={one} channel={project?.channelId} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ definition, channel }: { definition: Definition; channel?: string }) {
  const [running, setRunning] = useState(false);
  const errors = definition.problems.filter((one) => one.severity === "error").length;
  return (
    <li className="flex items-start gap-3.5 px-4 py-3.5 transition-colors duration-(--quick) hover:bg-hover/50">
      <span
        aria-hidden
        className="mt-0.5 grid size-9 shrink-0 place-items-center rounded-md bg-sunken text-ink-soft max-sm:hidden"
      >
        <Workflow className="size-4.5" />
      </span>
      <div className="min-w-0 flex-1">
        <Link
          to="/workflows/edit"
          search={{ name: definition.name, channel, scope: definition.scope }}
          className="text-md font-semibold [overflow-wrap:anywhere] hover:underline"
        >
          <VisibleText text={definition.name} />
        </Link>
        <p className="text-sm text-ink-soft [overflow-wrap:anywhere]">
          <VisibleText text={definition.description || "No description."} />
        </p>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
          <span>{definition.nodes === 1 ? "1 node" : `${definition.nodes} nodes`}</span>
          {definition.version && <span>Version {definition.version}</span>}
          {Object.keys(definition.inputs).length > 0 && (
            <span className="[overflow-wrap:anywhere]">
              Takes {Object.keys(definition.inputs).join(", ")}
            </span>
          )}
          {!definition.valid && (
            <Badge mood="bad" icon={<TriangleAlert />}>
              {errors === 1 ? "1 mistake" : `${errors} mistakes`}
            </Badge>
          )}
        </p>
      </div>
      <Button
        size="sm"
        icon={<Play />}
        disabled={!definition.valid}
        aria-label={`Run ${definition.name}`}
        onClick={() => setRunning(true)}
      >
        Run
      </Button>
      {running && (
        <RunDialog definition={definition} channel={channel ?? null} onClose={() => setRunning(false)} />
      )}
    </li>
  );
}
