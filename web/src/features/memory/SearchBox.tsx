import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";

const PAUSE = 220;
const LONGEST = 4000;

/** What is asked; it is looked for while one types. */
export function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // The address may change by itself: the way back, or a link.
  useEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const send = () => {
    sent.current = text.trim();
    onChange(sent.current);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each letter begins the pause anew
  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(send, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        className="relative"
      >
        <Search
          aria-hidden
          className="pointer-events-none absolute inset-y-0 left-4 my-auto size-4.5 text-ink-faint"
        />
        <input
          type="search"
          aria-label="Search the memory"
          placeholder="What did we decide about …?"
          value={text}
          maxLength={LONGEST}
          onChange={(event) => setText(event.target.value)}
          className="h-12 w-full rounded-lg border border-line-strong bg-raised pr-4 pl-11 text-lg shadow-sm"
        />
      </form>
    </search>
  );
}
