/** Ways round in an import cycle. */

/** The shortest way from a file back to itself, that file first and last; of several the first found. */
export function shortestLoop(files: readonly string[], links: readonly (readonly string[])[]): string[] {
  const next = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const [from = "", to = ""] of links) next.get(from)?.push(to);
  let best: string[] = [];
  for (const file of files) {
    const found = wayBack(file, next);
    if (found.length > 0 && (best.length === 0 || found.length < best.length)) best = found;
    if (best.length === 3) break;
  }
  return best;
}

function wayBack(begin: string, next: ReadonlyMap<string, readonly string[]>): string[] {
  const before = new Map<string, string>();
  const queue = [begin];
  for (const at of queue) {
    for (const to of next.get(at) ?? []) {
      if (to === begin) return unwound(begin, at, before);
      if (before.has(to)) continue;
      before.set(to, at);
      queue.push(to);
    }
  }
  return [];
}

function unwound(begin: string, last: string, before: ReadonlyMap<string, string>): string[] {
  const way = [begin];
  for (let at = last; at !== begin; at = before.get(at) as string) way.unshift(at);
  return [begin, ...way];
}

/** What all paths have in front in common, up to a slash: it need not be read at each of them. */
export function commonFolder(paths: readonly string[]): string {
  const [first = "", ...rest] = paths;
  let end = first.lastIndexOf("/") + 1;
  while (end > 0 && !rest.every((path) => path.startsWith(first.slice(0, end))))
    end = first.lastIndexOf("/", end - 2) + 1;
  return first.slice(0, end);
}
