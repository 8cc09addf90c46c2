import { type ReactNode, useEffect, useRef } from "react";

interface TileFrameProps {
  name: string;
  /** Beside the name: its state. */
  state: ReactNode;
  /** Below it: what it works on. */
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  footer: ReactNode;
}

/** One agent: who it is, what it does, what it says, and a line to write to it. */
export function TileFrame({ name, state, about, actions, children, footer }: TileFrameProps) {
  const body = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const inside = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // What grows below shows its end, unless somebody reads further up.
    const grown = new ResizeObserver(() => {
      if (follows.current && body.current) body.current.scrollTop = body.current.scrollHeight;
    });
    if (inside.current) grown.observe(inside.current);
    return () => grown.disconnect();
  }, []);
  return (
    <article
      aria-label={name}
      className="flex h-full min-h-0 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-sm"
    >
      <header className="tile-handle flex items-start gap-2 border-b border-line px-3.5 py-2.5">
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-sm font-semibold" title={name}>
            {name}
          </h2>
          <div className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-0.5">{state}</div>
        </div>
        {actions && <div className="nodrag -mr-1.5 flex shrink-0 gap-0.5">{actions}</div>}
      </header>
      {about && (
        <div className="border-b border-line bg-sunken px-3.5 py-2 text-xs text-ink-soft">{about}</div>
      )}
      <section
        ref={body}
        aria-label={`What ${name} says`}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          follows.current = scrollTop + clientHeight > scrollHeight - 24;
        }}
        className="nodrag nowheel min-h-0 flex-1 overflow-y-auto px-3.5 py-2.5 -outline-offset-2"
      >
        <div ref={inside}>{children}</div>
      </section>
      <footer className="nodrag border-t border-line p-2">{footer}</footer>
    </article>
  );
}
