import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { BookOpenText, Info, SearchX } from "lucide-react";
import { Button } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { HitCard } from "./HitCard";
import { wordsOf } from "./parts";
import { type Answer, answerTo, type Place, type Question } from "./queries";
import { type Asked, hasFilters } from "./question";

interface ResultsProps {
  question: Question;
  asked: Asked;
  onOpen: (place: Place) => void;
  onChange: (next: Partial<Asked>) => void;
}

export function Results({ question, asked, onOpen, onChange }: ResultsProps) {
  const found = useQuery({ ...answerTo(question), placeholderData: keepPreviousData });
  if (question.query === "") return <Beginning />;
  if (found.isPending) return <SkeletonRows label="Searching" />;
  if (found.isError)
    return (
      <ErrorState
        title="The memory could not be searched"
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  const { results, notes } = found.data;
  const best = Math.max(0, ...results.map((hit) => hit.score));
  return (
    <section
      aria-label="Hits"
      aria-busy={found.isPlaceholderData}
      className={classes(
        "flex flex-col gap-3 transition-opacity duration-(--quick)",
        found.isPlaceholderData && "opacity-60",
      )}
    >
      <Heading answer={found.data} />
      {notes.map((note) => (
        <p key={note} className="flex gap-2 rounded-md bg-busy-soft px-3 py-2 text-sm text-busy-ink">
          <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
          {note}
        </p>
      ))}
      {results.length === 0 && <Nothing asked={asked} onChange={onChange} />}
      <ol className="flex flex-col gap-3">
        {results.map((hit) => (
          <li key={`${hit.scope}:${hit.path}:${hit.line_start}:${hit.line_end}`}>
            <HitCard hit={hit} best={best} words={wordsOf(question.query)} onOpen={onOpen} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Heading({ answer }: { answer: Answer }) {
  const { results, mode, index } = answer;
  return (
    <p role="status" className="text-xs text-ink-faint">
      {results.length === 1 ? "1 hit" : `${results.length} hits`} in {index.files.toLocaleString()}{" "}
      {index.files === 1 ? "file" : "files"}, {mode === "hybrid" ? "by words and meaning" : "by words alone"}
    </p>
  );
}

const Beginning = () => (
  <EmptyState icon={<BookOpenText />} title="Ask your notes something">
    Markdown and text files are searched, offline and on this machine. Ask as you would ask a colleague: the
    passages come with the file, the heading and the lines, and with why they were found.
  </EmptyState>
);

function Nothing({ asked, onChange }: { asked: Asked; onChange: (next: Partial<Asked>) => void }) {
  const clear = { path: undefined, when: undefined, from: undefined, to: undefined, words: undefined };
  return (
    <EmptyState
      icon={<SearchX />}
      title="Nothing was found"
      action={hasFilters(asked) && <Button onClick={() => onChange(clear)}>Search without filters</Button>}
    >
      {hasFilters(asked)
        ? "No passage in the files that the filters leave answers this."
        : "Try other words, or look at the right whether the files that you expect have been read."}
    </EmptyState>
  );
}
