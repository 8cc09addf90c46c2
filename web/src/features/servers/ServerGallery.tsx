import {
  BookOpenText,
  BrainCircuit,
  Bug,
  Clock,
  FolderOpen,
  GitBranch,
  GitPullRequest,
  Globe,
  KeyRound,
  LogIn,
  type LucideIcon,
  NotebookText,
  Sparkles,
  SquareKanban,
} from "lucide-react";
import { Badge } from "@/shared/ui/Badge";
import { classes } from "@/shared/ui/classes";
import { GALLERY, type GalleryEntry } from "./gallery";

const ICONS: Record<string, LucideIcon> = {
  filesystem: FolderOpen,
  memory: BrainCircuit,
  time: Clock,
  git: GitBranch,
  fetch: Globe,
  everything: Sparkles,
  github: GitPullRequest,
  notion: NotebookText,
  linear: SquareKanban,
  sentry: Bug,
  deepwiki: BookOpenText,
};
const NEEDS: Record<GalleryEntry["need"], LucideIcon | null> = {
  nothing: null,
  directory: FolderOpen,
  key: KeyRound,
  "sign-in": LogIn,
};

interface GalleryProps {
  onPick: (entry: GalleryEntry) => void;
  /** Only the first ones. */
  most?: number;
  columns?: 2 | 3;
}

/** Well-known servers to begin with; each says what it needs. */
export function Gallery({ onPick, most, columns = 3 }: GalleryProps) {
  return (
    <ul
      aria-label="Well-known servers"
      className={classes("grid gap-2.5 sm:grid-cols-2", columns === 3 && "lg:grid-cols-3")}
    >
      {GALLERY.slice(0, most).map((entry) => (
        <li key={entry.id} className="flex">
          <Tile entry={entry} onPick={() => onPick(entry)} />
        </li>
      ))}
    </ul>
  );
}

function Tile({ entry, onPick }: { entry: GalleryEntry; onPick: () => void }) {
  const Icon = ICONS[entry.id] ?? Sparkles;
  const Need = NEEDS[entry.need];
  return (
    <button
      type="button"
      onClick={onPick}
      className="flex w-full items-start gap-3 rounded-lg border border-line bg-raised p-3.5 text-left shadow-sm transition-colors duration-(--quick) hover:border-accent-line hover:bg-accent-soft/40"
    >
      <span
        aria-hidden
        className="grid size-9 shrink-0 place-items-center rounded-md bg-accent-soft text-accent-ink"
      >
        <Icon className="size-4.5" />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center justify-between gap-x-2 gap-y-1">
          <span className="text-sm font-semibold">{entry.title}</span>
          <Badge icon={Need && <Need aria-hidden />}>
            <span className="sr-only">Needs: </span>
            {entry.needs === "Nothing" ? "Ready to use" : entry.needs}
          </Badge>
        </span>
        <span className="mt-1 block text-xs text-ink-soft">{entry.about}</span>
      </span>
    </button>
  );
}
