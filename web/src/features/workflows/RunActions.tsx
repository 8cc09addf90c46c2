import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleStop, Ellipsis, Pencil, Play, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import { toast } from "@/shared/ui/Toast";
import { cancelRun, definitionOf, deleteRun, type Run, retryRun } from "./queries";
import { RunDialog } from "./RunDialog";

/** Stop it, go on with it, begin it anew, remove it. */
export function RunActions({ run }: { run: Run }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"cancel" | "delete" | "again" | null>(null);
  const retry = useMutation({
    mutationFn: (from_failed: boolean) => retryRun(run.id, { from_failed }),
    onError: toast.error,
  });
  const ended = run.status !== "running" && run.status !== "paused";
  const open = { name: run.workflow_name, channel: run.channel_id ?? undefined };
  return (
    <>
      {!ended && (
        <Button icon={<CircleStop />} disabled={run.ending !== null} onClick={() => setAsking("cancel")}>
          Cancel run
        </Button>
      )}
      {ended && run.status !== "completed" && (
        <Button tone="primary" icon={<RotateCcw />} busy={retry.isPending} onClick={() => retry.mutate(true)}>
          Retry from failed
        </Button>
      )}
      {run.status === "completed" && (
        <Button icon={<Play />} onClick={() => setAsking("again")}>
          Run again
        </Button>
      )}
      <Menu
        trigger={<IconButton tone="plain" label="More actions" icon={<Ellipsis />} />}
        entries={[
          {
            label: "Definition",
            icon: <Pencil />,
            hint: "As it is now",
            onSelect: () => void navigate({ to: "/workflows/edit", search: open }),
          },
          {
            label: "Run again…",
            icon: <Play />,
            hint: "A new run with the same inputs",
            onSelect: () => setAsking("again"),
          },
          {
            label: "Retry from the start",
            icon: <RotateCcw />,
            hint: "The same run, every node anew",
            disabled: !ended,
            onSelect: () => retry.mutate(false),
          },
          "line",
          { label: "Delete…", icon: <Trash2 />, danger: true, onSelect: () => setAsking("delete") },
        ]}
      />
      {asking === "again" && <Again run={run} onClose={() => setAsking(null)} />}
      <Confirm run={run} asking={asking} onClose={() => setAsking(null)} />
    </>
  );
}

function Again({ run, onClose }: { run: Run; onClose: () => void }) {
  const found = useQuery(definitionOf(run.workflow_name, { channel: run.channel_id ?? null, scope: null }));
  if (found.isPending) return null;
  const known = found.data;
  return (
    <RunDialog
      definition={{
        name: run.workflow_name,
        description: known?.description ?? "",
        inputs: known?.inputs ?? {},
      }}
      channel={run.channel_id ?? null}
      given={run.inputs}
      onClose={onClose}
    />
  );
}

interface ConfirmProps {
  run: Run;
  asking: string | null;
  onClose: () => void;
}

function Confirm({ run, asking, onClose }: ConfirmProps) {
  const navigate = useNavigate();
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      toast.error(error);
    }
  };
  return (
    <>
      <AlertDialog
        open={asking === "cancel"}
        onClose={onClose}
        danger
        title="Cancel this run?"
        description="What goes on in it is ended, its processes and calls too; nodes that always run still do. It can be retried."
        action="Cancel run"
        onConfirm={() => attempt(() => cancelRun(run.id))}
      />
      <AlertDialog
        open={asking === "delete"}
        onClose={onClose}
        danger
        title="Delete this run?"
        description="It is forgotten with its outputs and logs. If it goes on, it is cancelled first."
        action="Delete"
        onConfirm={() =>
          attempt(async () => {
            await deleteRun(run.id);
            toast("The run is deleted");
            void navigate({ to: "/workflows", search: { view: "runs" } });
          })
        }
      />
    </>
  );
}
