import { FileText, X } from "lucide-react";
import { formatBytes } from "@/shared/format/format";
import type { Attached } from "./actions";

const PICTURE = /^image\/(png|jpeg|gif|webp)$/;

/** What will go with the message. */
export function AttachedFiles({
  files,
  onRemove,
}: {
  files: readonly Attached[];
  onRemove: (place: number) => void;
}) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex flex-wrap gap-2 px-3 pt-3">
      {files.map((file, place) => (
        <li
          key={`${file.name}:${place}`}
          className="flex max-w-60 items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-1.5 text-xs"
        >
          {PICTURE.test(file.mime) ? (
            <img
              src={`data:${file.mime};base64,${file.data}`}
              alt=""
              className="size-8 shrink-0 rounded-xs object-cover"
            />
          ) : (
            <FileText aria-hidden className="size-4 shrink-0 text-ink-faint" />
          )}
          <span className="min-w-0">
            <span className="block truncate" title={file.name}>
              {file.name}
            </span>
            <span className="text-ink-faint">{formatBytes(file.size)}</span>
          </span>
          <button
            type="button"
            aria-label={`Remove ${file.name}`}
            onClick={() => onRemove(place)}
            className="grid size-6 shrink-0 place-items-center rounded-sm text-ink-faint hover:bg-hover hover:text-ink"
          >
            <X className="size-3.5" />
          </button>
        </li>
      ))}
    </ul>
  );
}
