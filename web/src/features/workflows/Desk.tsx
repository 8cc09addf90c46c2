import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Play, Save } from "lucide-react";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { Page } from "@/shared/ui/Page";
import { Segmented } from "@/shared/ui/Segmented";
import { Skeleton } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { DeleteDefinition, DeskMenu } from "./DeskMenu";
import { DryRun } from "./DryRun";
import { GraphPane } from "./GraphPane";
import { type GraphNode, placeOf } from "./graph";
import { ProblemList } from "./ProblemList";
import { type DefinitionText, definitionsKey, type Place, saveDefinition } from "./queries";
import { RunDialog } from "./RunDialog";
import { STARTER } from "./starter";
import { useDraft } from "./useDraft";
import { useVerdict } from "./useVerdict";
import { WherePicker } from "./WherePicker";

const DefinitionEditor = lazy(() => import("./DefinitionEditor"));

interface DeskProps {
  /** Without one, a new one is written. */
  definition?: DefinitionText;
  place: Place;
}

const VIEWS = [
  { value: "text", label: "Text" },
  { value: "graph", label: "Graph" },
  { value: "dry", label: "Dry run" },
] as const;
type View = (typeof VIEWS)[number]["value"];

/** Where there is no room for the graph beside the text. */
const ONE_AT_A_TIME = "(width < 64rem)";

const MOODS = { good: "text-good-ink", bad: "text-bad-ink", unknown: "text-ink-soft" };

/** Where a definition is written: its text beside its graph, and what is wrong at its place. */
export function Desk({ definition, place: given }: DeskProps) {
  const navigate = useNavigate();
  const [place, setPlace] = useState<Place>(
    definition ? given : { channel: given.channel, scope: given.scope ?? "global" },
  );
  const draft = useDraft(definition?.path ?? "new", definition?.text ?? STARTER);
  const verdict = useVerdict(draft.text, place.channel);
  const [view, setView] = useState<View>("graph");
  const [asking, setAsking] = useState<"run" | "delete" | null>(null);
  const goTo = useRef<((line: number, column: number) => void) | null>(null);
  const save = useSave(definition, place, (saved) => {
    draft.settle(saved.text);
    const search = { name: saved.name, channel: place.channel ?? undefined, scope: saved.scope };
    void navigate({ to: "/workflows/edit", search, replace: true });
  });
  const showNode = (place: string | null) => {
    const line = place === null ? undefined : verdict.lines[place];
    if (line === undefined) return;
    if (window.matchMedia(ONE_AT_A_TIME).matches) setView("text");
    requestAnimationFrame(() => goTo.current?.(line, 1)); // once the text is there to be seen
  };
  const isDirty = definition === undefined || draft.isChanged;
  const canSave = verdict.ok && isDirty;
  const saveNow = () => save.mutate({ text: draft.text, name: verdict.name });
  const name = verdict.name ?? definition?.name ?? "New workflow";
  const summary = { name, description: verdict.description, inputs: verdict.inputs };
  return (
    <Page
      full
      above={
        <Link
          to="/workflows"
          className="mb-1.5 inline-flex items-center gap-1.5 text-sm text-ink-soft hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-4" /> All workflows
        </Link>
      }
      title={
        <span className="flex flex-wrap items-center gap-3">
          {definition ? definition.name : "New workflow"}
          {definition && draft.isChanged && <Badge mood="warn">Not saved</Badge>}
        </span>
      }
      description={definition ? definition.path : undefined}
      actions={
        <>
          {!definition && <WherePicker place={place} onChange={setPlace} />}
          <Button
            tone={isDirty ? "primary" : "plain"}
            icon={<Save />}
            disabled={!canSave}
            busy={save.isPending}
            onClick={saveNow}
          >
            Save
          </Button>
          {definition && (
            <>
              <Button
                tone={isDirty ? "plain" : "primary"}
                icon={<Play />}
                disabled={!verdict.ok || draft.isChanged}
                title={draft.isChanged ? "Save it first" : undefined}
                onClick={() => setAsking("run")}
              >
                Run
              </Button>
              <DeskMenu
                name={definition.name}
                isChanged={draft.isChanged}
                onDiscard={() => draft.settle(definition.text)}
                onDelete={() => setAsking("delete")}
              />
            </>
          )}
        </>
      }
    >
      <div className="flex items-center justify-between gap-3">
        <div className="lg:hidden">
          <Segmented label="View" value={view} onChange={setView} options={VIEWS} />
        </div>
        <div className="max-lg:hidden">
          <Segmented
            label="Beside the text"
            value={view === "text" ? "graph" : view}
            onChange={setView}
            options={VIEWS.filter((one) => one.value !== "text")}
          />
        </div>
        <span role="status" className={classes("text-sm", MOODS[verdict.mood])}>
          {verdict.words}
        </span>
      </div>
      <div className="grid gap-4 lg:h-[calc(100dvh-15.5rem)] lg:min-h-112 lg:grid-cols-2">
        <div
          className={classes(
            "flex h-[70dvh] min-h-0 min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-sm lg:h-auto",
            view !== "text" && "max-lg:hidden",
          )}
        >
          <div className="min-h-0 flex-1">
            <Suspense fallback={<Skeleton className="h-full w-full" />}>
              <DefinitionEditor
                text={draft.text}
                problems={verdict.problems}
                onChange={draft.change}
                onSave={() => canSave && saveNow()}
                goTo={goTo}
              />
            </Suspense>
          </div>
          <ProblemList problems={verdict.problems} onGo={(line, column) => goTo.current?.(line, column)} />
        </div>
        <div className={classes("min-h-0 min-w-0", view === "text" && "max-lg:hidden")}>
          {view === "dry" ? (
            <DryRun text={draft.text} channel={place.channel} inputs={verdict.inputs} ok={verdict.ok} />
          ) : (
            <Picture nodes={verdict.graph} name={name} onSelect={showNode} />
          )}
        </div>
      </div>
      {asking === "run" && (
        <RunDialog
          definition={summary}
          channel={place.scope === "project" ? place.channel : null}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === "delete" && definition && (
        <DeleteDefinition definition={definition} place={place} onClose={() => setAsking(null)} />
      )}
    </Page>
  );
}

interface PictureProps {
  nodes: readonly GraphNode[];
  name: string;
  /** Told the place in the definition. */
  onSelect: (place: string | null) => void;
}

/** The live graph: a click on a node goes to its line. */
function Picture({ nodes, name, onSelect }: PictureProps) {
  const [selected, setSelected] = useState<string | null>(null);
  const label = useMemo(() => `Graph of ${name}`, [name]);
  return (
    <GraphPane
      label={label}
      nodes={nodes}
      selected={selected}
      onSelect={(path) => {
        setSelected(path);
        onSelect(placeOf(nodes, path));
      }}
      className="h-[70dvh] lg:h-full"
    />
  );
}

function useSave(old: DefinitionText | undefined, place: Place, onSaved: (saved: DefinitionText) => void) {
  const cache = useQueryClient();
  return useMutation({
    // Under another name it is another workflow; the old one stays.
    mutationFn: ({ text, name }: { text: string; name: string | null }) =>
      saveDefinition(text, old && name === old.name ? "update" : "add", place),
    onSuccess: async (saved) => {
      await cache.invalidateQueries({ queryKey: definitionsKey });
      toast(`${saved.name} is saved`);
      onSaved(saved);
    },
    onError: toast.error,
  });
}
