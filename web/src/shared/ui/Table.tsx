import type { ReactNode } from "react";
import { classes } from "./classes";

export interface Column<T> {
  key: string;
  title: ReactNode;
  cell: (row: T) => ReactNode;
  /** Numbers stand right. */
  align?: "right";
  /** Left out on a phone. */
  wide?: boolean;
  className?: string;
}

interface TableProps<T> {
  /** Read out. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string | number;
  onRow?: (row: T) => void;
}

/** Rows of the same kind. For thousands of them take react-virtuoso instead. */
export function Table<T>({ label, columns, rows, rowKey, onRow }: TableProps<T>) {
  return (
    <div className="overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b border-line text-left text-xs text-ink-faint">
            {columns.map((column) => (
              <th key={column.key} scope="col" className={cellClasses(column, "py-2 font-medium")}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              onClick={onRow && (() => onRow(row))}
              className={classes(
                "border-b border-line last:border-0",
                onRow && "cursor-pointer hover:bg-hover",
              )}
            >
              {columns.map((column) => (
                <td key={column.key} className={cellClasses(column, "py-2.5 align-top")}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const cellClasses = <T,>(column: Column<T>, base: string): string =>
  classes(
    base,
    "px-3 first:pl-4 last:pr-4",
    column.align === "right" && "text-right tabular-nums",
    column.wide && "max-md:hidden",
    column.className,
  );
