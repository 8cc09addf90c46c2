import { Bell, BellOff, BellRing } from "lucide-react";
import { Button } from "@/shared/ui/Button";
import { toast } from "@/shared/ui/Toast";
import { turnOff, turnOn, useWish, type Wish } from "./wish";

const WORDS: Record<Wish, string> = {
  on: "This browser tells you when something waits, or a long run ends, while you look elsewhere.",
  off: "Be told when something waits, or a long run ends, while you look elsewhere.",
  blocked: "This browser blocks notifications of this address. Allow them in its site settings, then reload.",
  impossible: "This browser cannot notify you here: that needs https or this machine's own address.",
};
const ICONS: Record<Wish, typeof Bell> = { on: BellRing, off: Bell, blocked: BellOff, impossible: BellOff };

/** One line that says whether this browser notifies, and changes it. */
export function NotifyCard() {
  const wish = useWish();
  const Icon = ICONS[wish];
  return (
    <section
      aria-label="Notifications"
      className="flex items-center gap-3 rounded-lg bg-sunken px-4 py-2.5 text-sm text-ink-soft"
    >
      <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />
      <p className="min-w-0 flex-1">{WORDS[wish]}</p>
      {wish === "off" && (
        <Button size="sm" onClick={() => void turnOn().catch(toast.error)}>
          Turn on
        </Button>
      )}
      {wish === "on" && (
        <Button size="sm" tone="quiet" onClick={turnOff}>
          Turn off
        </Button>
      )}
    </section>
  );
}
