import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Desk } from "./Desk";
import { definitionOf, type Scope } from "./queries";

export const Back = () => (
  <Link
    to="/workflows"
    className="mb-1.5 inline-flex items-center gap-1.5 text-sm text-ink-soft hover:text-ink"
  >
    <ArrowLeft aria-hidden className="size-4" /> All workflows
  </Link>
);

export default function EditPage() {
  const { name, channel = null, scope } = useSearch({ from: "/workflows/edit" });
  const place = { channel, scope: scope === "global" || scope === "project" ? (scope as Scope) : null };
  const found = useQuery({ ...definitionOf(name ?? "", place), enabled: Boolean(name) });
  if (!name) return <Desk key="new" place={place} />;
  if (found.data && !found.isError)
    return (
      <Desk key={found.data.path} definition={found.data} place={{ ...place, scope: found.data.scope }} />
    );
  return (
    <Page title={name} above={<Back />} full>
      {found.isError ? (
        <ErrorState
          title="This workflow cannot be shown"
          error={found.error}
          onRetry={() => void found.refetch()}
        />
      ) : (
        <SkeletonRows />
      )}
    </Page>
  );
}
