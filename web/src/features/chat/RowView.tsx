import { ApprovalCard } from "@/features/approvals/ApprovalCard";
import { formatDay } from "@/shared/format/format";
import { Answer } from "./Answer";
import { Calls } from "./Calls";
import { ClosingLine } from "./ClosingLine";
import { Note } from "./Note";
import type { Row } from "./rows";
import { UserMessage } from "./UserMessage";
import { Working } from "./Working";

/** One row of a conversation. Distances are inside of rows: a list that measures them sees no margins. */
export function RowView({ row, channelId }: { row: Row; channelId: string }) {
  switch (row.kind) {
    case "day":
      return <Day at={row.at} />;
    case "user":
      return <UserMessage message={row.message} channelId={channelId} />;
    case "answer":
      return (
        <Answer message={row.message} runId={row.runId} iteration={row.iteration} channelId={channelId} />
      );
    case "calls":
      return <Calls calls={row.calls} working={row.working} />;
    case "approval":
      return (
        <div className="py-2">
          <ApprovalCard approval={row.approval} inChat />
        </div>
      );
    case "note":
      return <Note message={row.message} />;
    case "working":
      return <Working run={row.run} waiting={row.waiting} />;
    case "closing":
      return <ClosingLine run={row.run} />;
  }
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });

function Day({ at }: { at: string }) {
  return (
    <div className="flex items-center justify-center py-3">
      <time dateTime={at} title={formatDay(at)} className="text-xs text-ink-faint">
        {new Date(at).toDateString() === new Date().toDateString() ? "Today" : DAY.format(new Date(at))}
      </time>
    </div>
  );
}
