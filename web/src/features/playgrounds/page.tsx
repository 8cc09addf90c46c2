import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { AppWindow, ArrowLeft, Plus } from "lucide-react";
import { useState } from "react";
import { formatBytes } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { NewPlayground } from "./NewPlayground";
import { PlaygroundView } from "./PlaygroundView";
import { asText, keyOf, type Playground, playgroundList } from "./queries";

export default function PlaygroundsPage() {
  const playgrounds = useQuery(playgroundList);
  const { open } = useSearch({ from: "/playgrounds" });
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const go = (key?: string) => void navigate({ to: "/playgrounds", search: { open: key } });
  const list = playgrounds.data;
  const chosen = list?.find((one) => asText(keyOf(one)) === open);
  return (
    <Page
      title="Playgrounds"
      description="Small pages that agents and you make. They run on their own and reach nothing here."
      full
      actions={
        <Button tone={list?.length ? "plain" : "primary"} icon={<Plus />} onClick={() => setMaking(true)}>
          New playground
        </Button>
      }
    >
      {playgrounds.isPending && <SkeletonRows />}
      {playgrounds.isError && (
        <ErrorState
          title="The playgrounds could not be read"
          error={playgrounds.error}
          onRetry={() => void playgrounds.refetch()}
        />
      )}
      {list?.length === 0 && (
        <EmptyState icon={<AppWindow />} title="No playgrounds yet">
          Ask an agent for one (“make a playground that shows …”), or begin with an empty page.
        </EmptyState>
      )}
      {list && list.length > 0 && (
        <div className="grid gap-6 lg:grid-cols-[15rem_minmax(0,1fr)]">
          <Choice list={list} open={open} hidden={chosen !== undefined} />
          {chosen ? (
            <div className="flex min-w-0 flex-col gap-3">
              <Link
                to="/playgrounds"
                search={{}}
                className="inline-flex items-center gap-1.5 self-start text-sm text-ink-soft hover:text-ink lg:hidden"
              >
                <ArrowLeft aria-hidden className="size-4" /> All playgrounds
              </Link>
              <PlaygroundView key={asText(keyOf(chosen))} playground={chosen} onGone={() => go()} />
            </div>
          ) : (
            <div className="hidden rounded-lg border border-line border-dashed lg:block">
              <EmptyState icon={<AppWindow />} title={open ? "This playground is gone" : "Choose one"}>
                Its page, its files and its console open here.
              </EmptyState>
            </div>
          )}
        </div>
      )}
      {making && (
        <NewPlayground
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            go(key);
          }}
        />
      )}
    </Page>
  );
}

interface ChoiceProps {
  list: readonly Playground[];
  open: string | undefined;
  /** On a small screen there is room for one of both. */
  hidden: boolean;
}

function Choice({ list, open, hidden }: ChoiceProps) {
  return (
    <nav aria-label="Playgrounds" className={classes(hidden && "hidden lg:block")}>
      <ul className="flex flex-col gap-1">
        {list.map((one) => {
          const key = asText(keyOf(one));
          return (
            <li key={key}>
              <Link
                to="/playgrounds"
                search={{ open: key }}
                aria-current={key === open ? "page" : undefined}
                className={classes(
                  "flex flex-col gap-0.5 rounded-md border px-3 py-2 transition-colors duration-(--quick)",
                  key === open
                    ? "border-line-strong bg-raised shadow-sm"
                    : "border-transparent hover:bg-hover",
                )}
              >
                <span className="truncate text-sm font-medium" title={one.title}>
                  {one.title}
                </span>
                <span className="truncate text-xs text-ink-faint" title={one.project ?? undefined}>
                  {one.project ? one.project.split("/").pop() : "Everywhere"} · {formatBytes(one.size)} ·{" "}
                  <RelativeTime at={one.updated_at} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
