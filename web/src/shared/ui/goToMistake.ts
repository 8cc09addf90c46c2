import { useEffect } from "react";

/** The first field of the open window that is wrong gets the focus, wherever one has scrolled to. */
export const goToMistake = (): void =>
  document.querySelector<HTMLElement>("[role=dialog] [aria-invalid=true]")?.focus();

/** Goes there whenever new ones are found. */
export function useGoToMistake(mistakes: object): void {
  useEffect(() => {
    if (Object.keys(mistakes).length > 0) goToMistake();
  }, [mistakes]);
}
