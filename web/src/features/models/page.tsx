import { useQuery } from "@tanstack/react-query";
import { Plus, RefreshCw, Sparkles } from "lucide-react";
import { useState } from "react";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { ModelDialog } from "./ModelDialog";
import { ModelRow } from "./ModelRow";
import { Providers } from "./Providers";
import { type Model, modelList, type Provider, useLookAgain } from "./queries";
import { useTests } from "./useTests";

type Open = { model?: Model; from?: Provider } | null;

export default function ModelsPage() {
  const models = useQuery(modelList);
  const { tests, run } = useTests();
  const [open, setOpen] = useState<Open>(null);
  return (
    <Page
      title="Models"
      description="Who answers: the models you saved, and those that were found by themselves."
      actions={
        <>
          <LookAgain />
          <Button tone="primary" icon={<Plus />} onClick={() => setOpen({})}>
            Add model
          </Button>
        </>
      }
    >
      {models.isPending && <SkeletonRows />}
      {models.isError && (
        <ErrorState
          title="The models could not be read"
          error={models.error}
          onRetry={() => void models.refetch()}
        />
      )}
      {models.data && (
        <>
          {models.data.every((model) => model.provider === "demo") && <OnlyDemo />}
          <Card flush>
            <ul aria-label="Models" className="-mt-1">
              {inOrder(models.data).map((model) => (
                <ModelRow
                  key={model.id}
                  model={model}
                  test={tests[model.id]}
                  onTest={() => void run(model.id)}
                  onEdit={() => setOpen({ model })}
                />
              ))}
            </ul>
          </Card>
          <section aria-labelledby="providers" className="flex flex-col gap-3 pt-2">
            <div>
              <h2 id="providers" className="text-md font-semibold">
                Providers and keys
              </h2>
              <p className="text-sm text-ink-soft">
                Keys in the environment and model servers on this machine are found by themselves.
              </p>
            </div>
            <Providers models={models.data} onAdd={(from) => setOpen({ from })} />
          </section>
        </>
      )}
      {open && (
        <ModelDialog
          model={open.model}
          from={open.from}
          onClose={() => setOpen(null)}
          onSaved={(saved) => void run(saved.id)}
        />
      )}
    </Page>
  );
}

/** The default first, the demo last. */
const inOrder = (models: readonly Model[]): Model[] =>
  [...models].sort((one, other) => rank(one) - rank(other));
const rank = (model: Model): number => (model.default ? 0 : model.provider === "demo" ? 2 : 1);

function LookAgain() {
  const look = useLookAgain();
  return (
    <Button
      icon={<RefreshCw />}
      busy={look.isPending}
      onClick={() =>
        look.mutate(undefined, {
          onSuccess: (models) => {
            const local = models.filter((model) => model.source === "local").length;
            toast(local === 0 ? "No model server answers on this machine" : `${local} found on this machine`);
          },
          onError: toast.error,
        })
      }
    >
      Look again
    </Button>
  );
}

const OnlyDemo = () => (
  <div className="flex items-start gap-3 rounded-lg bg-accent-soft px-4 py-3 text-sm">
    <Sparkles aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-ink" />
    <p>
      <span className="font-medium">Only the demo answers now.</span> It matches words to tools and has no
      intelligence. Add a model with a key, or start a model server such as Ollama and look again.
    </p>
  </div>
);
