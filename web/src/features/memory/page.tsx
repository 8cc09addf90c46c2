import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Settings2 } from "lucide-react";
import { useMemo, useState } from "react";
import { projectsOf } from "@/features/chat/projects";
import { channelList } from "@/features/chat/queries";
import { buttonClasses } from "@/shared/ui/Button";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { Select } from "@/shared/ui/Select";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { ExcerptSheet } from "./ExcerptSheet";
import { Filters } from "./Filters";
import { IndexState } from "./IndexState";
import type { Place } from "./queries";
import { type Asked, questionOf } from "./question";
import { Results } from "./Results";
import { SearchBox } from "./SearchBox";

const GLOBAL = "global";
const MINUTE = 60_000;

export default function MemoryPage() {
  const channels = useQuery(channelList);
  const asked = useSearch({ from: "/memory" });
  const navigate = useNavigate();
  const [open, setOpen] = useState<Place | null>(null);
  const projects = useMemo(() => projectsOf(channels.data ?? []), [channels.data]);
  const named = channels.data?.find((one) => one.id === asked.channel);
  const channel = asked.channel === GLOBAL ? undefined : (named ?? projects[0]);
  const choices = named && !projects.includes(named) ? [...projects, named] : projects;
  const whose = channel?.id ?? null;
  const go = (next: Partial<Asked> & { channel?: string }) =>
    void navigate({ to: "/memory", search: { ...asked, ...next }, replace: true });
  // Rounded to a minute: with every moment another question would never be answered from what is known.
  const question = questionOf(asked, whose, Math.floor(Date.now() / MINUTE) * MINUTE);
  return (
    <Page
      title="Memory"
      description="Find what was written down, by its words and by what it means."
      actions={
        <>
          <div className="w-full sm:w-56">
            <Select
              label="Whose memory"
              value={whose ?? GLOBAL}
              options={[
                ...choices.map((one) => ({
                  value: one.id,
                  label: one.name,
                  hint: one.dir_path ?? "No directory: what was said here",
                })),
                { value: GLOBAL, label: "Global memory", hint: "What belongs to no project" },
              ]}
              onChange={(next) => go({ channel: next })}
            />
          </div>
          <Link to="/settings" hash="memory" className={buttonClasses("plain")}>
            <Settings2 aria-hidden /> Settings
          </Link>
        </>
      }
    >
      {channels.isError && (
        <ErrorState
          title="The channels could not be read"
          error={channels.error}
          onRetry={() => void channels.refetch()}
        />
      )}
      {channels.isPending && <SkeletonRows />}
      {channels.data && (
        <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_19rem]">
          <div className="flex min-w-0 flex-col gap-4">
            <SearchBox value={asked.q ?? ""} onChange={(q) => go({ q: q || undefined })} />
            <Filters asked={asked} onChange={go} />
            <Results question={question} asked={asked} onOpen={setOpen} onChange={go} />
          </div>
          <IndexState key={whose} whose={whose} onOpen={setOpen} />
        </div>
      )}
      <ExcerptSheet whose={whose} place={open} onClose={() => setOpen(null)} />
    </Page>
  );
}
