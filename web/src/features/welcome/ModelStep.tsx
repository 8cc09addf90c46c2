import { useMutation, useQuery } from "@tanstack/react-query";
import { ArrowRight, KeyRound, RefreshCw } from "lucide-react";
import { useState } from "react";
import { ModelDialog } from "@/features/models/ModelDialog";
import { type Model, makeDefault, modelList, useLookAgain } from "@/features/models/queries";
import { TrialResult } from "@/features/models/TrialResult";
import { useTests } from "@/features/models/useTests";
import { SOURCES } from "@/features/models/words";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";

const MOST = 5;

/** A real model: one that was found, one with a key, or one that is started on this machine. */
export function ModelStep({ onNext }: { onNext: () => void }) {
  const models = useQuery(modelList);
  const [adding, setAdding] = useState(false);
  const { tests, run } = useTests();
  const real = models.data?.filter((model) => model.provider !== "demo") ?? [];
  return (
    <div className="flex flex-col gap-4">
      {models.isPending && <SkeletonRows rows={2} />}
      {models.isError && <ErrorState error={models.error} onRetry={() => void models.refetch()} />}
      {models.data && real.length === 0 && <Nothing />}
      {real.length > 0 && (
        <ul aria-label="Models that can answer" className="flex flex-col gap-2">
          {real.slice(0, MOST).map((model) => (
            <Choice
              key={model.id}
              model={model}
              onTest={() => void run(model.id)}
              isTesting={tests[model.id]?.isPending ?? false}
            >
              {tests[model.id] && <TrialResult test={tests[model.id] ?? { isPending: false }} />}
            </Choice>
          ))}
        </ul>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          tone={real.length === 0 ? "primary" : "plain"}
          icon={<KeyRound />}
          onClick={() => setAdding(true)}
        >
          Add a model with a key
        </Button>
        <LookAgain />
        <Button tone={real.length > 0 ? "primary" : "quiet"} onClick={onNext} className="ml-auto">
          {real.length > 0 ? "Next: a first server" : "Stay with the demo"}
          <ArrowRight aria-hidden />
        </Button>
      </div>
      {adding && <ModelDialog onClose={() => setAdding(false)} onSaved={(saved) => void run(saved.id)} />}
    </div>
  );
}

const Nothing = () => (
  <p className="text-sm text-ink-soft">
    No key is in the environment and no model server answers on this machine. Add a model of OpenAI,
    Anthropic, Google or anyone who speaks OpenAI&apos;s API; or start Ollama, LM Studio, vLLM or llama.cpp
    here and look again.
  </p>
);

interface ChoiceProps {
  model: Model;
  onTest: () => void;
  isTesting: boolean;
  children: React.ReactNode;
}

function Choice({ model, onTest, isTesting, children }: ChoiceProps) {
  const choose = useMutation({ mutationFn: () => makeDefault(model.id), onError: toast.error });
  const source = SOURCES[model.source];
  return (
    <li className="rounded-lg border border-line px-3.5 py-2.5">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
        <span className="min-w-0 text-sm font-medium [overflow-wrap:anywhere]">{model.name}</span>
        {source && <Badge mood={source.mood}>{source.word}</Badge>}
        <span className="ml-auto flex items-center gap-2">
          <Button size="sm" tone="quiet" busy={isTesting} onClick={onTest} aria-label={`Test ${model.name}`}>
            Test
          </Button>
          {model.default ? (
            <Badge mood="accent">Answers</Badge>
          ) : (
            <Button
              size="sm"
              busy={choose.isPending}
              onClick={() => choose.mutate()}
              aria-label={`Let ${model.name} answer`}
            >
              Let it answer
            </Button>
          )}
        </span>
      </div>
      {children}
    </li>
  );
}

function LookAgain() {
  const look = useLookAgain();
  return (
    <Button
      icon={<RefreshCw />}
      busy={look.isPending}
      onClick={() => look.mutate(undefined, { onError: toast.error })}
    >
      Look again
    </Button>
  );
}
