import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { type Model, type Provider, providerList } from "./queries";
import { providerState } from "./words";

interface ProvidersProps {
  models: readonly Model[];
  onAdd: (provider: Provider) => void;
}

/** Everyone whose models can be used: what was found, and what each needs. */
export function Providers({ models, onAdd }: ProvidersProps) {
  const providers = useQuery(providerList);
  if (providers.isPending) return <SkeletonRows rows={3} />;
  if (providers.isError)
    return (
      <ErrorState
        title="The providers could not be read"
        error={providers.error}
        onRetry={() => void providers.refetch()}
      />
    );
  return (
    <ul className="grid gap-2.5 sm:grid-cols-2 xl:grid-cols-3">
      {providers.data
        .filter((provider) => provider.id !== "demo")
        .map((provider) => (
          <Tile key={provider.id} provider={provider} models={models} onAdd={() => onAdd(provider)} />
        ))}
    </ul>
  );
}

interface TileProps {
  provider: Provider;
  models: readonly Model[];
  onAdd: () => void;
}

function Tile({ provider, models, onAdd }: TileProps) {
  const state = providerState(provider, models);
  return (
    <li className="flex flex-col gap-1 rounded-lg border border-line bg-raised p-3.5 shadow-sm">
      <div className="flex items-center gap-2">
        <h3 className="min-w-0 flex-1 text-sm font-semibold">{provider.name}</h3>
        <Badge mood={state.mood}>{state.word}</Badge>
      </div>
      <p className="flex-1 text-xs text-ink-soft [overflow-wrap:anywhere]">{state.detail}</p>
      <div className="mt-1.5 -ml-2">
        <Button
          tone="quiet"
          size="sm"
          icon={<Plus />}
          onClick={onAdd}
          aria-label={`Add a model of ${provider.name}`}
        >
          Add a model
        </Button>
      </div>
    </li>
  );
}
