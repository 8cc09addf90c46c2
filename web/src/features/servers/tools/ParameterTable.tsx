import { Badge } from "@/shared/ui/Badge";
import { VisibleText } from "@/shared/ui/VisibleText";
import { type ParameterRow, parameterRows, type Schema } from "../form/schema";

/** What a tool takes: one line for each parameter, nested ones under theirs. */
export function ParameterTable({ schema, label }: { schema: Schema; label: string }) {
  const rows = parameterRows(schema);
  if (rows.length === 0) return <p className="text-sm text-ink-soft">It takes no arguments.</p>;
  return (
    <section className="overflow-x-auto rounded-md border border-line" tabIndex={0} aria-label={label}>
      <table aria-label={label} className="w-full border-collapse text-sm">
        <thead className="max-sm:sr-only">
          <tr className="border-b border-line bg-sunken text-left text-xs text-ink-soft">
            <th scope="col" className="px-3 py-1.5 font-medium">
              Name
            </th>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Type
            </th>
            <th scope="col" className="w-full px-3 py-1.5 font-medium">
              Description
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.path} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row }: { row: ParameterRow }) {
  return (
    <tr className="border-b border-line align-top last:border-0 max-sm:block max-sm:px-3 max-sm:py-2">
      <th
        scope="row"
        title={row.path}
        className="whitespace-nowrap py-2 pr-3 text-left font-normal max-sm:inline-block max-sm:py-0 sm:pl-3"
      >
        <span style={{ paddingLeft: `${row.depth * 0.9}rem` }} className="inline-flex items-center gap-2">
          {row.depth > 0 && (
            <span aria-hidden className="text-ink-faint">
              └
            </span>
          )}
          <code className="font-medium">
            <VisibleText text={row.name} />
          </code>
          {row.required && <Badge mood="accent">required</Badge>}
        </span>
      </th>
      <td className="whitespace-nowrap px-3 py-2 text-xs text-ink-soft max-sm:inline-block max-sm:py-0">
        {row.type}
      </td>
      <td className="px-3 py-2 text-ink-soft [overflow-wrap:anywhere] max-sm:block max-sm:px-0 max-sm:py-0.5 sm:min-w-64">
        {row.description && <VisibleText text={row.description} />}
        {row.notes.length > 0 && (
          <span className="block font-mono text-xs text-ink-faint">
            <VisibleText text={row.notes.join(" · ")} />
          </span>
        )}
      </td>
    </tr>
  );
}
