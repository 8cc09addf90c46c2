/** Texts that are written and not saved yet; they outlive going to another page and a reload. */
const name = (key: string): string => `manyhands.workflow.${key}`;

export function loadDraft(key: string): string | null {
  try {
    return sessionStorage.getItem(name(key));
  } catch {
    return null;
  }
}

export function keepDraft(key: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(name(key));
    else sessionStorage.setItem(name(key), text);
  } catch {
    // No room, or none allowed: then it is lost with the page.
  }
}
