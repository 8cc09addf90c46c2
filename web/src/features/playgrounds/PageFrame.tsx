import type { Playground } from "./queries";

/**
 * The page itself. It has no origin (no `allow-same-origin`): it cannot see the hub, its cookies or its storage,
 * whatever it tries.
 */
export function PageFrame({ playground, reloads }: { playground: Playground; reloads: number }) {
  if (!playground.url)
    return (
      <p className="px-4 py-10 text-center text-sm text-ink-soft">
        Pages are served by the daemon, and its port for them could not be opened. Its log says why.
      </p>
    );
  return (
    <iframe
      key={`${playground.url}#${reloads}`}
      title={playground.title}
      src={playground.url}
      sandbox="allow-scripts allow-forms allow-pointer-lock allow-downloads"
      referrerPolicy="no-referrer"
      // What the page sets no colour for is white paper, in both themes, as everywhere else.
      className="block h-[max(24rem,calc(100dvh-16rem))] w-full rounded-lg border border-line bg-white shadow-sm"
    />
  );
}
