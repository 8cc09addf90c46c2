import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Tabs } from "@/shared/ui/Tabs";
import { Compare } from "./Compare";
import { Copies } from "./Copies";
import { Cycles } from "./Cycles";
import { FileMap } from "./FileMap";
import { Functions } from "./Functions";
import { MetricCards } from "./MetricCards";
import type { Snapshot } from "./queries";
import { BranchBanner } from "./Scan";
import { Signal } from "./Signal";
import { type Place, SourceSheet } from "./SourceSheet";
import { Trend } from "./Trend";
import { Unused } from "./Unused";

export const VIEWS = ["map", "functions", "copies", "cycles", "unused", "compare"] as const;
export type View = (typeof VIEWS)[number];

interface SnapshotViewProps {
  snapshot: Snapshot;
  onScan?: () => void;
}

/** What a scan has found: the number, its six reasons, and everything that they are made from. */
export function SnapshotView({ snapshot, onScan }: SnapshotViewProps) {
  const channelId = snapshot.channel_id;
  const search = useSearch({ from: "/quality" });
  const navigate = useNavigate();
  const [open, setOpen] = useState<Place | null>(null);
  const view = VIEWS.find((one) => one === search.view) ?? "map";
  const go = (next: View, q?: string) =>
    void navigate({
      to: "/quality",
      search: { channel: channelId, view: next, q },
      replace: true,
      resetScroll: false,
    });
  const show = (next: View) => {
    go(next);
    document.getElementById("quality-details")?.scrollIntoView({ block: "start", behavior: "smooth" });
  };
  return (
    <>
      <BranchBanner snapshot={snapshot} onScan={onScan} />
      <div className="grid gap-5 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <Signal snapshot={snapshot} />
        <Trend channelId={channelId} branch={snapshot.branch} />
      </div>
      <MetricCards snapshot={snapshot} onShow={show} />
      <div id="quality-details" className="scroll-mt-4">
        <Tabs
          label="Details"
          value={view}
          onChange={(next) => go(next)}
          tabs={[
            {
              value: "map",
              label: "Files",
              count: snapshot.files,
              content: <FileMap channelId={channelId} onFile={(path) => go("functions", path)} />,
            },
            {
              value: "functions",
              label: "Functions",
              count: snapshot.functions,
              content: (
                <Functions
                  channelId={channelId}
                  q={search.q ?? ""}
                  onQuery={(q) => go("functions", q)}
                  onOpen={setOpen}
                />
              ),
            },
            {
              value: "copies",
              label: "Copies",
              count: snapshot.clones,
              content: <Copies channelId={channelId} total={snapshot.clones} onOpen={setOpen} />,
            },
            {
              value: "cycles",
              label: "Cycles",
              count: snapshot.cycles,
              content: <Cycles channelId={channelId} total={snapshot.cycles} />,
            },
            {
              value: "unused",
              label: "Unused",
              count: snapshot.unused,
              content: <Unused channelId={channelId} total={snapshot.unused} onOpen={setOpen} />,
            },
            {
              value: "compare",
              label: "Compare",
              content: <Compare channelId={channelId} onOpen={setOpen} />,
            },
          ]}
        />
      </div>
      <SourceSheet channelId={channelId} place={open} onClose={() => setOpen(null)} />
    </>
  );
}
