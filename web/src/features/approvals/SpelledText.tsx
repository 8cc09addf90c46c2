import { Fragment } from "react";
import { hiddenName, VisibleText } from "@/shared/ui/VisibleText";
import { cutAtSpelled, unspelled } from "./spelled";

/** A text of a question in which nothing hides; what the hub spelled out stands out. */
export function SpelledText({ text }: { text: string }) {
  const parts = cutAtSpelled(text);
  if (parts.every((part) => part.code === undefined)) return <VisibleText text={text} />;
  return (
    <bdi>
      {parts.map((part, place) =>
        part.code ? (
          <mark
            key={place}
            title="A character that is not seen"
            className="mx-px whitespace-nowrap rounded-xs bg-warn-soft px-1 font-mono text-[0.85em] text-warn-ink"
          >
            {hiddenName(unspelled(part.text))}
          </mark>
        ) : (
          <Fragment key={place}>
            <VisibleText text={part.text} />
          </Fragment>
        ),
      )}
    </bdi>
  );
}
