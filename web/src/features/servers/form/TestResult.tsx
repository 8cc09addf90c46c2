import { CircleAlert, CircleCheck, LogIn } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Schemas } from "@/shared/api/client";
import { formatDuration } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { VisibleText } from "@/shared/ui/VisibleText";

type Report = Schemas["ServerTest"];

/** What connecting once has shown: the tools, or why not, with what the server said last. */
export function TestResult({ report }: { report: Report }) {
  const box = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new report is brought into view
  useEffect(() => {
    box.current?.scrollIntoView?.({ block: "nearest" });
  }, [report]);
  return (
    <section
      ref={box}
      aria-label="Result of the test"
      role="status"
      className="flex flex-col gap-2.5 rounded-lg border border-line bg-sunken p-3.5 text-sm"
    >
      <Verdict report={report} />
      {report.tools && report.tools.length > 0 && <Names label="Tools" names={report.tools} />}
      {report.prompts && report.prompts.length > 0 && <Names label="Prompts" names={report.prompts} />}
      {report.problem && <p className="text-warn-ink">{report.problem}</p>}
      {report.stderr?.trim() && (
        <div>
          <p className="mb-1 text-xs text-ink-soft">What it wrote to its standard error</p>
          <CodeBlock code={report.stderr.trim()} wrap fold={15} />
        </div>
      )}
    </section>
  );
}

function Verdict({ report }: { report: Report }) {
  const Icon = report.ok ? CircleCheck : report.needs_auth ? LogIn : CircleAlert;
  const tone = report.ok ? "text-good" : report.needs_auth ? "text-warn" : "text-bad";
  const count = report.tools?.length ?? 0;
  return (
    <div className="flex items-start gap-2.5">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className="font-medium">
          {report.ok
            ? `It works: ${count} ${count === 1 ? "tool" : "tools"} found`
            : report.needs_auth
              ? "It is there and wants a sign-in: save it, then sign in"
              : "It does not work"}
          <span className="font-normal text-ink-faint"> · {formatDuration(report.elapsed_ms)}</span>
        </p>
        {report.error && !report.needs_auth && (
          <p className="mt-0.5 whitespace-pre-wrap text-ink-soft">
            <VisibleText text={report.error} />
          </p>
        )}
        <p className="mt-1 flex flex-wrap gap-1.5">
          {report.version && <Badge>Version {report.version}</Badge>}
          {report.protocol && <Badge>Protocol {report.protocol}</Badge>}
          {report.ok && count === 0 && <Badge mood="warn">No tools</Badge>}
          {report.exit_code != null && <Badge mood="bad">Exit code {report.exit_code}</Badge>}
        </p>
      </div>
    </div>
  );
}

const Names = ({ label, names }: { label: string; names: readonly string[] }) => (
  <div>
    <p className="mb-1 text-xs text-ink-soft">{label}</p>
    <ul className="flex max-h-36 flex-wrap gap-1 overflow-y-auto">
      {names.map((name) => (
        <li
          key={name}
          className="rounded-xs bg-raised px-1.5 py-px font-mono text-xs ring-1 ring-line [overflow-wrap:anywhere]"
        >
          <VisibleText text={name} />
        </li>
      ))}
    </ul>
  </div>
);
