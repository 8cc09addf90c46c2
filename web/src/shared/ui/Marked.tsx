/** The found words stand out. */
export function Marked({ text, words }: { text: string; words: string }) {
  const parts = words
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (parts.length === 0) return text;
  const pieces = text.split(new RegExp(`(${parts.join("|")})`, "gi"));
  return pieces.map((piece, place) =>
    place % 2 === 1 ? (
      <mark key={place} className="rounded-xs bg-warn-soft text-warn-ink">
        {piece}
      </mark>
    ) : (
      piece
    ),
  );
}
