import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, CircleX, Info } from "lucide-react";
import { buttonClasses } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { type Finding, verdictOf } from "./findings";

const VERDICTS = {
  good: { icon: CircleCheck, colour: "bg-good-soft text-good-ink" },
  warn: { icon: CircleAlert, colour: "bg-warn-soft text-warn-ink" },
  bad: { icon: CircleX, colour: "bg-bad-soft text-bad-ink" },
};
const KINDS = {
  broken: { icon: CircleX, colour: "text-bad", word: "Broken" },
  warning: { icon: CircleAlert, colour: "text-warn", word: "Warning" },
  note: { icon: Info, colour: "text-ink-faint", word: "Note" },
};

/** What is wrong, and what to do about each thing. */
export function Health({ findings }: { findings: readonly Finding[] }) {
  const verdict = verdictOf(findings);
  const { icon: Icon, colour } = VERDICTS[verdict.mood];
  return (
    <section
      aria-label="Health"
      className="overflow-hidden rounded-lg border border-line bg-raised shadow-sm"
    >
      <h2 className={classes("flex items-center gap-2.5 px-4 py-3 text-lg font-semibold", colour)}>
        <Icon aria-hidden className="size-5 shrink-0" />
        {verdict.text}
      </h2>
      {findings.length > 0 && (
        <ul>
          {findings.map((finding) => (
            <Row key={finding.id} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ finding }: { finding: Finding }) {
  const { icon: Icon, colour, word } = KINDS[finding.verdict];
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 border-t border-line px-4 py-3 text-sm">
      <Icon aria-label={word} className={classes("mt-0.5 size-4 shrink-0", colour)} />
      <div className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        <p className="line-clamp-6 whitespace-pre-wrap" title={finding.text}>
          {finding.text}
        </p>
        <p className="mt-0.5 text-ink-soft">{finding.fix}</p>
      </div>
      {finding.to && (
        <Link to={finding.to} className={classes(buttonClasses("plain", "sm"), "max-sm:ml-7")}>
          {finding.go}
        </Link>
      )}
    </li>
  );
}
