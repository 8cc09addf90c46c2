import { useCallback, useState } from "react";
import { keepDraft, loadDraft } from "./drafts";

/** A text as it is being written, kept until it is saved. */
export function useDraft(key: string, saved: string) {
  const [typed, setTyped] = useState<string | null>(() => loadDraft(key));
  const text = typed ?? saved;
  const change = useCallback(
    (next: string) => {
      const kept = next === saved ? null : next;
      setTyped(kept);
      keepDraft(key, kept);
    },
    [key, saved],
  );
  /** It is saved, or taken back. */
  const settle = useCallback(
    (_text: string) => {
      setTyped(null);
      keepDraft(key, null);
    },
    [key],
  );
  return { text, isChanged: text !== saved, change, settle };
}
