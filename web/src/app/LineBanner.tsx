import { KeyRound, RefreshCw, WifiOff } from "lucide-react";
import { events, useLineState } from "@/shared/events/events";
import type { LineState } from "@/shared/events/stream";
import { Button } from "@/shared/ui/Button";
import { StateDot } from "@/shared/ui/StateDot";

const DOTS: Record<LineState, { state: string; word: string }> = {
  live: { state: "connected", word: "Live" },
  connecting: { state: "connecting", word: "Connecting" },
  gone: { state: "error", word: "Not connected" },
  signed_out: { state: "needs_auth", word: "Signed out" },
};

/** The state of the line in one word. */
export function LineDot() {
  const { state, word } = DOTS[useLineState()];
  return (
    <span data-testid="line">
      <StateDot state={state} word={word} />
    </span>
  );
}

/** Says when the hub does not answer; goes away by itself when it does again. */
export function LineBanner() {
  const state = useLineState();
  if (state !== "gone") return null;
  return (
    <div
      role="alert"
      className="flex animate-appear items-center gap-3 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn-ink"
    >
      <WifiOff aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1">
        <span className="font-medium">The hub does not answer.</span> This page comes back by itself once{" "}
        <code>manyhands up</code> runs again; what you see may be old.
      </p>
      <Button size="sm" icon={<RefreshCw />} onClick={() => events.retry()}>
        Try now
      </Button>
    </div>
  );
}

/** What to do when this browser is not signed in any more. */
export const SignedOut = () => (
  <main className="grid h-full place-items-center p-4">
    <div className="w-full max-w-md animate-rise rounded-xl border border-line bg-raised p-7 shadow-md">
      <span
        aria-hidden
        className="mb-4 grid size-11 place-items-center rounded-lg bg-accent-soft text-accent-ink"
      >
        <KeyRound className="size-5" />
      </span>
      <h1 className="text-xl font-semibold">This browser is not signed in</h1>
      <p className="mt-2 text-sm text-ink-soft">
        Open the address that <code>manyhands up</code> printed. It ends in <code>?token=…</code> and signs
        this browser in. If it is gone, run <code>manyhands up --open</code>.
      </p>
      <Button tone="primary" className="mt-5" onClick={() => location.reload()}>
        I have done that
      </Button>
    </div>
  </main>
);
