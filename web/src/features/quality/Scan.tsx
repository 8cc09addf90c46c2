import { CircleAlert, GitBranch, RotateCw, X } from "lucide-react";
import { Button } from "@/shared/ui/Button";
import { HowFar } from "./HowFar";
import type { Failure, Snapshot } from "./queries";
import type { Scanning } from "./useScan";

export const ScanButton = ({ scan }: { scan: Scanning }) => (
  <Button tone="primary" icon={<RotateCw />} busy={scan.running} onClick={scan.start}>
    Scan again
  </Button>
);

/** A scan that goes on, or how the last one failed. */
export function ScanLine({ scan }: { scan: Scanning }) {
  if (scan.running) return <Progress scan={scan} />;
  return scan.state?.failure ? <Failed failure={scan.state.failure} /> : null;
}

const Progress = ({ scan }: { scan: Scanning }) => (
  <section
    aria-label="The scan"
    className="flex animate-appear items-center gap-4 rounded-lg border border-line bg-raised px-4 py-3 shadow-sm"
  >
    <HowFar label="How far the scan is" {...scan.state} />
    <Button size="sm" icon={<X />} busy={scan.ending} onClick={scan.cancel}>
      Cancel
    </Button>
  </section>
);

const Failed = ({ failure }: { failure: Failure }) => (
  <p
    role="status"
    className="flex items-start gap-2.5 rounded-lg bg-warn-soft px-4 py-3 text-sm [overflow-wrap:anywhere]"
  >
    <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn-ink" />
    <span>
      <span className="font-medium text-warn-ink">{failure.error}</span> {failure.hint}
    </span>
  </p>
);

/** The numbers are of another branch than the one that is checked out. */
export function BranchBanner({ snapshot, onScan }: { snapshot: Snapshot; onScan?: () => void }) {
  if (!snapshot.branch_mismatch) return null;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg bg-warn-soft px-4 py-3 text-sm"
    >
      <GitBranch aria-hidden className="size-4 shrink-0 text-warn-ink" />
      <p className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        These numbers are of <Branch name={snapshot.branch} />, but <Branch name={snapshot.current_branch} />{" "}
        is checked out, which has not been scanned yet.
      </p>
      {onScan && (
        <Button size="sm" onClick={onScan}>
          Scan this branch
        </Button>
      )}
    </div>
  );
}

const Branch = ({ name }: { name: string | null }) =>
  name === null ? "a directory without git" : <strong className="font-semibold">{name}</strong>;
