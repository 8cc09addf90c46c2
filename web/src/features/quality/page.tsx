import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FolderCode, ScanSearch } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { projectsOf } from "@/features/chat/projects";
import { type Channel, channelList } from "@/features/chat/queries";
import { Button } from "@/shared/ui/Button";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { Select } from "@/shared/ui/Select";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { type Snapshot, snapshotOf } from "./queries";
import { ScanButton, ScanLine } from "./Scan";
import { SnapshotView } from "./SnapshotView";
import { useScan } from "./useScan";

export default function QualityPage() {
  const channels = useQuery(channelList);
  const search = useSearch({ from: "/quality" });
  const navigate = useNavigate();
  const projects = useMemo(() => projectsOf(channels.data ?? []), [channels.data]);
  const asked = channels.data?.find((one) => one.id === search.channel && one.dir_path);
  const channel = asked ?? projects[0];
  const choices = asked && !projects.includes(asked) ? [...projects, asked] : projects;
  const frame = (content: ReactNode, actions?: ReactNode) => (
    <Page
      title="Quality"
      description="How healthy the code of a project is, in one number with its reasons."
      actions={
        channel && (
          <>
            <div className="w-full sm:w-52">
              <Select
                label="Project"
                value={channel.id}
                options={choices.map((one) => ({
                  value: one.id,
                  label: one.name,
                  hint: one.dir_path ?? undefined,
                }))}
                onChange={(id) => void navigate({ to: "/quality", search: { channel: id }, replace: true })}
              />
            </div>
            {actions}
          </>
        )
      }
    >
      {content}
    </Page>
  );
  if (channels.isError)
    return frame(
      <ErrorState
        title="The projects could not be read"
        error={channels.error}
        onRetry={() => void channels.refetch()}
      />,
    );
  if (channels.isPending) return frame(<SkeletonRows />);
  if (!channel) return frame(<NoProject />);
  return <Project key={channel.id} channel={channel} frame={frame} />;
}

const NoProject = () => (
  <EmptyState icon={<FolderCode />} title="No channel has a directory yet">
    Begin a conversation with a directory of code, or give one to a channel in its menu: its quality is shown
    here.
  </EmptyState>
);

interface ProjectProps {
  channel: Channel;
  frame: (content: ReactNode, actions?: ReactNode) => ReactNode;
}

function Project({ channel, frame }: ProjectProps) {
  const snapshot = useQuery(snapshotOf(channel.id));
  const scan = useScan(channel.id);
  return frame(
    <>
      <ScanLine scan={scan} />
      {snapshot.isPending && <SkeletonRows rows={6} />}
      {snapshot.isError && (
        <ErrorState
          title="The measures could not be read"
          error={snapshot.error}
          onRetry={() => void snapshot.refetch()}
        />
      )}
      {snapshot.data === null && !scan.running && <NothingYet channel={channel} onScan={scan.start} />}
      {snapshot.data && <Shown snapshot={snapshot.data} onScan={scan.running ? undefined : scan.start} />}
    </>,
    snapshot.data && <ScanButton scan={scan} />,
  );
}

/** Lists are of one scan: with another one they begin anew. */
const Shown = ({ snapshot, onScan }: { snapshot: Snapshot; onScan?: () => void }) => (
  <SnapshotView key={snapshot.channel_id} snapshot={snapshot} onScan={onScan} />
);

const NothingYet = ({ channel, onScan }: { channel: Channel; onScan: () => void }) => (
  <EmptyState
    icon={<ScanSearch />}
    title={`${channel.name} has not been scanned yet`}
    action={
      <Button tone="primary" icon={<ScanSearch />} onClick={onScan}>
        Scan it now
      </Button>
    }
  >
    A scan reads the code below <code className="[overflow-wrap:anywhere]">{channel.dir_path}</code> and
    changes nothing. It knows thirteen languages, and leaves out what git ignores.
  </EmptyState>
);
