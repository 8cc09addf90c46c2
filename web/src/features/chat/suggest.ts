/** What is being typed at the caret: a command (`/` at the beginning) or a mention (`@` anywhere). Pure. */

export type Typed =
  | { kind: "command"; query: string; start: number; end: number }
  | { kind: "mention"; query: string; start: number; end: number };

export function typedAt(text: string, caret: number): Typed | null {
  const before = text.slice(0, caret);
  if (/^\/[^\s]*$/.test(before)) return { kind: "command", query: before.slice(1), start: 0, end: caret };
  const mention = /(?:^|\s)@([^\s]*)$/.exec(before);
  if (mention) {
    const query = mention[1] ?? "";
    return { kind: "mention", query, start: caret - query.length - 1, end: caret };
  }
  return null;
}

/** Those that hold all words, the ones that begin with it first. */
export function matching<T>(items: readonly T[], query: string, textOf: (item: T) => string, most = 8): T[] {
  const wanted = query.toLowerCase();
  const scored = items
    .map((item) => ({ item, place: textOf(item).toLowerCase().indexOf(wanted) }))
    .filter(({ place }) => place >= 0);
  return scored
    .sort((a, b) => a.place - b.place)
    .slice(0, most)
    .map(({ item }) => item);
}

/** A value of `key=value` in a command line that a shell would read as one word. */
export const quoted = (value: string): string =>
  /^[\w./:@%+,-]+$/.test(value) ? value : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

export function commandLine(command: string, values: Record<string, string>): string {
  const words = Object.entries(values)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${quoted(value)}`);
  return [command, ...words].join(" ");
}
