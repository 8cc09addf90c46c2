import { Check, ExternalLink, X } from "lucide-react";
import { useState } from "react";
import { Button, buttonClasses } from "@/shared/ui/Button";
import type { AnswerBody } from "./answer";
import { SpelledText } from "./SpelledText";
import { unspelled } from "./spelled";

interface LinkQuestionProps {
  url: string;
  busy: boolean;
  onAnswer: (answer: AnswerBody) => void;
}

/** The parts of an address round its host; nothing for what is not an address of the web. */
export function addressParts(url: string): { before: string; host: string; after: string } | null {
  const meant = unspelled(url);
  if (!URL.canParse(meant)) return null;
  const parsed = new URL(meant);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return null;
  const from = url.indexOf("//") + 2;
  const rest = url.slice(from);
  const end = rest.search(/[/?#\\]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  // Whatever stands before an @ is a name, not the host, and often there to mislead.
  const at = authority.lastIndexOf("@") + 1;
  return {
    before: url.slice(0, from + at),
    host: authority.slice(at),
    after: url.slice(from + authority.length),
  };
}

/** An address that a server asks to visit: shown whole, opened only by a click. */
export function LinkQuestion({ url, busy, onAnswer }: LinkQuestionProps) {
  const [opened, setOpened] = useState(false);
  const parts = addressParts(url);
  const real = parts && new URL(unspelled(url));
  const unlike = real && parts && unspelled(parts.host) !== real.host ? real.host : null;
  return (
    <div className="flex flex-col gap-3.5">
      <p className="rounded-md border border-line bg-sunken px-3 py-2.5 font-mono text-xs leading-relaxed text-ink-soft [overflow-wrap:anywhere]">
        {parts ? (
          <>
            <SpelledText text={parts.before} />
            <strong className="rounded-xs bg-accent-soft px-0.5 font-semibold text-accent-ink">
              <SpelledText text={parts.host} />
            </strong>
            <SpelledText text={parts.after} />
          </>
        ) : (
          <SpelledText text={url} />
        )}
      </p>
      {unlike && (
        <p className="text-sm text-warn-ink">
          The browser will go to <strong className="font-mono">{unlike}</strong>, which is written
          differently.
        </p>
      )}
      {!parts && <p className="text-sm text-bad-ink">This is not an address of the web; it is not opened.</p>}
      <div className="flex flex-wrap gap-2">
        {real && (
          <a
            href={real.href}
            target="_blank"
            rel="noopener noreferrer"
            onClick={() => setOpened(true)}
            className={buttonClasses(opened ? "plain" : "primary")}
          >
            <ExternalLink aria-hidden />
            {opened ? "Open it again" : "Open in a new tab"}
          </a>
        )}
        {real && (
          <Button
            tone={opened ? "primary" : "plain"}
            icon={<Check />}
            busy={busy}
            onClick={() => onAnswer({ decision: "approve", scope: "once" })}
          >
            Done, go on
          </Button>
        )}
        <Button
          tone="quiet"
          icon={<X />}
          disabled={busy}
          onClick={() => onAnswer({ decision: "reject", scope: "once" })}
        >
          Decline
        </Button>
      </div>
    </div>
  );
}
