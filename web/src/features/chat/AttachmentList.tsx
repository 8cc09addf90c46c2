import { FileText } from "lucide-react";
import { formatBytes } from "@/shared/format/format";

export interface Reference {
  sha256: string;
  name: string;
  mime: string;
  size: number;
}

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const referencesOf = (attachments: readonly unknown[] | undefined): Reference[] =>
  (attachments ?? []) as Reference[];

const addressOf = (one: Reference): string =>
  `/api/attachments/${encodeURIComponent(one.sha256)}?mime=${encodeURIComponent(one.mime)}`;

/** Pictures as pictures, other files as chips; both open in full. */
export function AttachmentList({ references }: { references: readonly Reference[] }) {
  if (references.length === 0) return null;
  return (
    <ul className="flex flex-wrap items-end justify-end gap-2" aria-label="Attachments">
      {references.map((one, place) => (
        <li key={`${one.sha256}:${place}`}>
          {SHOWN.has(one.mime) ? (
            <a
              href={addressOf(one)}
              target="_blank"
              rel="noreferrer"
              title={`${one.name}, ${formatBytes(one.size)}`}
            >
              <img
                src={addressOf(one)}
                alt={one.name}
                className="h-36 max-w-64 rounded-lg border border-line bg-sunken object-cover"
              />
            </a>
          ) : (
            <a
              href={addressOf(one)}
              download={one.name}
              className="flex max-w-64 items-center gap-2 rounded-md border border-line bg-raised px-2.5 py-1.5 text-xs hover:bg-hover"
            >
              <FileText aria-hidden className="size-4 shrink-0 text-ink-faint" />
              <span className="min-w-0 truncate" title={one.name}>
                {one.name}
              </span>
              <span className="shrink-0 text-ink-faint">{formatBytes(one.size)}</span>
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}
