import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronDown, RotateCw, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { formatDuration } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Menu } from "@/shared/ui/Menu";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { CollectionState } from "./CollectionState";
import { FilesSheet } from "./FilesSheet";
import { type Embedder, type Place, readAgain, statusKey, statusOf, type Whose } from "./queries";
import { embedderWords, isBusy, shownOf, told } from "./state";

interface IndexStateProps {
  whose: Whose;
  onOpen: (place: Place) => void;
}

/** What has been read, what goes on, what is wrong, and who makes the vectors. */
export function IndexState({ whose, onOpen }: IndexStateProps) {
  const status = useQuery(statusOf(whose));
  const [files, setFiles] = useState<"all" | "problems" | null>(null);
  if (status.isPending) return <SkeletonRows rows={4} />;
  if (status.isError)
    return (
      <ErrorState
        title="The state of the index could not be read"
        error={status.error}
        onRetry={() => void status.refetch()}
      />
    );
  const shown = shownOf(status.data.collections, whose);
  return (
    <aside aria-label="The index" className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-0">
      <Card title="What is read" actions={<ReadAgain whose={whose} busy={shown.some(isBusy)} />}>
        <div className="flex flex-col divide-y divide-line">
          {shown.map((one) => (
            <CollectionState
              key={one.scope}
              collection={one}
              onFiles={() => setFiles("all")}
              onProblems={() => setFiles("problems")}
            />
          ))}
        </div>
      </Card>
      <EmbedderCard embedder={status.data.embedder} />
      <FilesSheet whose={whose} shown={files} onShow={setFiles} onOpen={onOpen} />
    </aside>
  );
}

function ReadAgain({ whose, busy }: { whose: Whose; busy: boolean }) {
  const cache = useQueryClient();
  const index = useMutation({
    mutationFn: (again: boolean) => readAgain(whose, again),
    onSuccess: (done) => toast(told(done)),
    onError: toast.error,
    onSettled: () => cache.invalidateQueries({ queryKey: statusKey }),
  });
  return (
    <Menu
      trigger={
        <Button size="sm" icon={<RotateCw />} busy={index.isPending || busy}>
          Re-index <ChevronDown aria-hidden />
        </Button>
      }
      entries={[
        {
          label: "Look for changes",
          hint: "Reads only what is not as it was.",
          onSelect: () => index.mutate(false),
        },
        {
          label: "Read everything anew",
          hint: "Forgets what is kept; the files stay as they are.",
          onSelect: () => index.mutate(true),
        },
      ]}
    />
  );
}

function EmbedderCard({ embedder }: { embedder: Embedder }) {
  const [title, about] = embedderWords(embedder.name);
  return (
    <Card title="Meaning" description={title}>
      <p className="text-sm text-ink-soft">{about}</p>
      {embedder.note && <p className="mt-2 text-xs text-ink-faint">{embedder.note}</p>}
      {embedder.problem && (
        <p
          role="status"
          className="mt-2 flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm [overflow-wrap:anywhere]"
        >
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn-ink" />
          <span>
            {embedder.problem} Search goes by words alone until then.
            {embedder.retry_in_s != null && (
              <span className="text-ink-soft">
                {" "}
                It is tried again in {formatDuration(embedder.retry_in_s * 1000)}.
              </span>
            )}
          </span>
        </p>
      )}
    </Card>
  );
}
