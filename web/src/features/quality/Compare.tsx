import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX, GitCompareArrows, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Input } from "@/shared/ui/Input";
import { ComparedView } from "./ComparedView";
import { HowFar } from "./HowFar";
import { type Compared, compareWith, comparisonState } from "./queries";
import type { Place } from "./SourceSheet";
import { count, signed } from "./words";

interface CompareProps {
  channelId: string;
  onOpen: (place: Place) => void;
}

/** What has become better and worse since another state of the code. */
export function Compare({ channelId, onOpen }: CompareProps) {
  const [base, setBase] = useState("");
  const going = useRef<AbortController | null>(null);
  const cache = useQueryClient();
  const comparing = comparisonState(channelId);
  const progress = useQuery(comparing);
  useEffect(() => () => going.current?.abort(), []);
  const compare = useMutation({
    mutationFn: () => {
      going.current = new AbortController();
      cache.setQueryData(comparing.queryKey, null);
      return compareWith(channelId, base.trim(), going.current.signal);
    },
  });
  const stopped = compare.isError && going.current?.signal.aborted;
  return (
    <Card
      title="Compare with another state"
      description="The directory as it is now against a branch, a tag or a commit. Only what is new counts against it."
    >
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          compare.mutate();
        }}
      >
        <Input
          aria-label="Branch, tag or commit"
          placeholder="Where the work left the main branch"
          value={base}
          maxLength={250}
          onChange={(event) => setBase(event.target.value)}
          className="min-w-0 flex-1 basis-56 sm:max-w-96"
        />
        <Button type="submit" icon={<GitCompareArrows />} busy={compare.isPending}>
          Compare
        </Button>
        {compare.isPending && (
          <Button tone="quiet" icon={<X />} onClick={() => going.current?.abort()}>
            Cancel
          </Button>
        )}
      </form>
      {compare.isPending && (
        <div className="mt-4 flex">
          <HowFar label="How far the comparison is" {...progress.data} />
        </div>
      )}
      <div aria-live="polite">
        {compare.isError && !stopped && (
          <div className="-mx-4">
            <ErrorState title="They could not be compared" error={compare.error} />
          </div>
        )}
        {compare.data && !compare.isPending && <Verdict compared={compare.data} />}
      </div>
      {compare.data && !compare.isPending && <ComparedView compared={compare.data} onOpen={onOpen} />}
    </Card>
  );
}

function Verdict({ compared }: { compared: Compared }) {
  const { passed, change } = compared;
  return (
    <div className="mt-5 flex flex-wrap items-center gap-x-3 gap-y-2">
      <Badge
        mood={passed ? "good" : "bad"}
        icon={passed ? <CircleCheck aria-hidden /> : <CircleX aria-hidden />}
        className="text-sm"
      >
        {passed ? "No new problems" : count(compared.problems.length, "new problem")}
      </Badge>
      <p className="text-sm text-ink-soft">
        <strong className="font-semibold text-ink tabular-nums">
          {compared.quality_signal.toLocaleString()}
        </strong>{" "}
        now, {compared.base_signal.toLocaleString()} at{" "}
        <span className="[overflow-wrap:anywhere]">{compared.base}</span>{" "}
        <span className="font-mono text-xs">{compared.base_commit.slice(0, 8)}</span> ({signed(change)})
      </p>
    </div>
  );
}
