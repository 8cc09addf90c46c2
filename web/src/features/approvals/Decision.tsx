import { Check, ChevronDown, X } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { Button, buttonClasses } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { recoverFocus } from "@/shared/ui/focusHistory";
import { Input } from "@/shared/ui/Input";
import { Menu } from "@/shared/ui/Menu";
import type { AnswerBody } from "./answer";
import type { Scope } from "./question";

interface DecisionProps {
  /** What a yes is called here: "Allow once". */
  yes: ReactNode;
  no?: string;
  /** What a yes may hold for beyond this once. */
  more?: { scope: Scope; label: string; hint: string }[];
  busy: boolean;
  onAnswer: (answer: AnswerBody) => void;
  /** A form sends itself; its yes is a submit. */
  form?: string;
}

/** Yes, yes for longer, or no with a reason. */
export function Decision({ yes, no = "Deny", more = [], busy, onAnswer, form }: DecisionProps) {
  const [refusing, setRefusing] = useState(false);
  useEffect(() => whenGone, []);
  if (refusing)
    return (
      <Refusal
        no={no}
        busy={busy}
        onBack={() => setRefusing(false)}
        onRefuse={(reason) => onAnswer({ decision: "reject", scope: "once", reason })}
      />
    );
  return (
    <div className="flex flex-wrap items-center gap-2">
      <div className="flex">
        <Button
          tone="primary"
          icon={<Check />}
          busy={busy}
          type={form ? "submit" : "button"}
          form={form}
          className={classes(more.length > 0 && "relative rounded-r-none! focus-visible:z-1")}
          onClick={form ? undefined : () => onAnswer({ decision: "approve", scope: "once" })}
        >
          {yes}
        </Button>
        {more.length > 0 && (
          <Menu
            align="start"
            trigger={
              <button
                type="button"
                aria-label="Allow for longer"
                disabled={busy}
                className={classes(
                  buttonClasses("primary"),
                  "relative rounded-l-none! focus-visible:z-1 border-l border-on-accent/30 px-2!",
                )}
              >
                <ChevronDown />
              </button>
            }
            entries={more.map(({ scope, label, hint }) => ({
              label,
              hint,
              onSelect: () => onAnswer({ decision: "approve", scope }),
            }))}
          />
        )}
      </div>
      <Button icon={<X />} disabled={busy} onClick={() => setRefusing(true)}>
        {no}…
      </Button>
    </div>
  );
}

/** The keyboard goes on from where it was before; on a phone that would only bring up its own. */
function whenGone(): void {
  if (matchMedia("(pointer: fine)").matches) setTimeout(recoverFocus);
}

interface RefusalProps {
  no: string;
  busy: boolean;
  onBack: () => void;
  onRefuse: (reason: string | null) => void;
}

function Refusal({ no, busy, onBack, onRefuse }: RefusalProps) {
  const [reason, setReason] = useState("");
  const id = useId();
  return (
    <form
      className="flex flex-col gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        onRefuse(reason.trim() || null);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onBack();
      }}
    >
      <label htmlFor={id} className="text-sm font-medium">
        Why not?{" "}
        <span className="font-normal text-ink-faint">Whoever asks is told; it may be left empty.</span>
      </label>
      <div className="flex flex-wrap gap-2">
        <Input
          id={id}
          autoFocus
          value={reason}
          maxLength={2000}
          onChange={(event) => setReason(event.target.value)}
          // Its buttons come into view with it.
          className="flex-1 scroll-mb-16 max-sm:basis-full"
        />
        <Button tone="danger" type="submit" busy={busy}>
          {no}
        </Button>
        <Button tone="quiet" onClick={onBack}>
          Back
        </Button>
      </div>
    </form>
  );
}
