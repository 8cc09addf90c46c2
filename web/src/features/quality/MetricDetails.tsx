import { ChevronDown } from "lucide-react";
import { Popover } from "@/shared/ui/Popover";
import { count, cutPath } from "./words";

type Row = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const trigger = (label: string) => (
  <button
    type="button"
    className="mt-2 inline-flex items-center gap-1 self-start rounded-xs text-sm text-accent-ink hover:underline"
  >
    {label} <ChevronDown aria-hidden className="size-3.5" />
  </button>
);

/** The longest way down, file by file. */
export function Chain({ rows }: { rows: readonly Row[] }) {
  const chain = Array.isArray(rows[0]?.chain) ? rows[0].chain.map(text) : [];
  return (
    <Popover
      trigger={trigger("Show the longest chain")}
      label="The longest chain of imports"
      className="w-96"
    >
      <p className="text-xs text-ink-faint">Each of these files imports the next one.</p>
      <ol tabIndex={0} className="mt-2 max-h-72 overflow-y-auto text-xs">
        {chain.map((path, place) => (
          <li key={path} className="flex gap-2.5 py-0.5">
            <span className="w-5 shrink-0 text-right text-ink-faint tabular-nums">{place + 1}</span>
            <Path path={path} />
          </li>
        ))}
      </ol>
    </Popover>
  );
}

/** Which files were found to belong together, and how closely. */
export function Communities({ rows }: { rows: readonly Row[] }) {
  return (
    <Popover trigger={trigger("Show the communities")} label="The largest communities" className="w-96">
      <p className="text-xs text-ink-faint">Files that import each other more than they import others.</p>
      <ol tabIndex={0} className="mt-2 flex max-h-72 flex-col gap-2 overflow-y-auto text-xs">
        {rows.map((row, place) => (
          <li key={place}>
            <p className="flex justify-between gap-3">
              <span className="font-medium">{count(Number(row.size), "file")}</span>
              <span className="text-ink-soft tabular-nums">
                {Number(row.links).toLocaleString()} of{" "}
                {count(Number(row.degree) - Number(row.links), "link")} stay within
              </span>
            </p>
            <p className="line-clamp-2 text-ink-soft [overflow-wrap:anywhere]">
              {Array.isArray(row.files) && row.files.map(text).join(", ")}
            </p>
          </li>
        ))}
      </ol>
    </Popover>
  );
}

/** The files that are much larger than the others. */
export function Largest({ rows }: { rows: readonly Row[] }) {
  return (
    <Popover trigger={trigger("Show the largest files")} label="The largest files" className="w-96">
      <ul tabIndex={0} className="max-h-72 overflow-y-auto text-xs">
        {rows.map((row) => (
          <li key={text(row.path)} className="flex gap-3 py-0.5">
            <span className="min-w-0 flex-1">
              <Path path={text(row.path)} />
            </span>
            <span className="text-ink-soft tabular-nums">{Number(row.loc).toLocaleString()} lines</span>
          </li>
        ))}
      </ul>
    </Popover>
  );
}

/** A path whose last part is read first. */
export function Path({ path }: { path: string }) {
  const [folder, name] = cutPath(path);
  return (
    <bdi className="[overflow-wrap:anywhere]">
      <span className="text-ink-faint">{folder}</span>
      <wbr />
      {name}
    </bdi>
  );
}
