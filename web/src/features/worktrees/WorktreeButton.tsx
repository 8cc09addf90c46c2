import { useQuery } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { WORKTREE_STATES, worktreeOf } from "./queries";

const WorktreeSheet = lazy(() =>
  import("./WorktreeSheet").then((module) => ({ default: module.WorktreeSheet })),
);

interface WorktreeButtonProps {
  threadId: string;
  branch: string;
  onDelete: () => void;
}

/** In a thread's header: its branch and how that stands; opens what was changed. */
export function WorktreeButton({ threadId, branch, onDelete }: WorktreeButtonProps) {
  const [open, setOpen] = useState(false);
  const state = useQuery(worktreeOf(threadId)).data?.state;
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        title={`${branch}: files that were changed`}
        className="flex min-w-0 shrink-[2] items-center gap-1.5 rounded-full border border-line bg-raised px-2.5 py-0.5 text-xs text-ink-soft hover:border-line-strong hover:text-ink"
      >
        <GitBranch aria-hidden className="size-3.5 shrink-0" />
        <span className="max-w-44 truncate font-mono max-sm:hidden">{branch}</span>
        {state && <span className="whitespace-nowrap font-medium">{WORKTREE_STATES[state].word}</span>}
        <span className="sr-only">: show changes</span>
      </button>
      <Suspense>
        {open && <WorktreeSheet threadId={threadId} onClose={() => setOpen(false)} onDelete={onDelete} />}
      </Suspense>
    </>
  );
}
