import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { classes } from "@/shared/ui/classes";
import { Diff } from "@/shared/ui/Diff";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { FileDiff } from "./queries";

/** A diff without the lines that only name the file; all of it when there is nothing else. */
export function hunksOf(diff: string): string {
  const start = /^@@/m.exec(diff)?.index ?? 0;
  return diff.slice(start).replace(/\n$/, "");
}

/** One file that differs, with what differs in it. */
export function ChangedFile({ file, open: atFirst }: { file: FileDiff; open: boolean }) {
  const [open, setOpen] = useState(atFirst);
  const id = useId();
  return (
    <li className="overflow-hidden rounded-lg border border-line bg-raised">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-3 py-2 text-left text-sm -outline-offset-1 hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={classes(
            "size-4 shrink-0 text-ink-faint transition-transform duration-(--quick)",
            open && "rotate-90",
          )}
        />
        <span className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
          <VisibleText text={file.path} />
        </span>
        <span className="shrink-0 text-xs text-ink-faint">{file.status}</span>
        {!file.binary && (
          <span className="shrink-0 text-xs tabular-nums">
            <span className="text-good-ink">+{file.additions}</span>{" "}
            <span className="text-bad-ink">−{file.deletions}</span>
          </span>
        )}
      </button>
      <div id={id} hidden={!open} className="border-t border-line p-2">
        {open && <Body file={file} />}
      </div>
    </li>
  );
}

function Body({ file }: { file: FileDiff }) {
  if (file.binary || file.diff === "")
    return (
      <p className="px-1 py-0.5 text-xs text-ink-soft">
        {file.binary ? "No text: it is not shown." : "Nothing in it differs."}
      </p>
    );
  return (
    <>
      <Diff text={hunksOf(file.diff)} label={`What changed in ${file.path}`} />
      {file.cut && <p className="mt-1.5 px-1 text-xs text-warn-ink">There is more of it than is shown.</p>}
    </>
  );
}
