import { Badge } from "@/shared/ui/Badge";
import { WORKTREE_STATES, type Worktree } from "./queries";

/** How it stands. */
export function WorktreeBadge({ state }: { state: Worktree["state"] }) {
  const { mood, word, means } = WORKTREE_STATES[state];
  return (
    <Badge mood={mood} title={means}>
      {word}
    </Badge>
  );
}
