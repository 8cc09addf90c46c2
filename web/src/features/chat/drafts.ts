/** What was being written, by conversation, until it is sent; for this tab. */
const KEY = "manyhands.draft.";

export function draftOf(channelId: string | undefined): string {
  try {
    return sessionStorage.getItem(KEY + (channelId ?? "new")) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(channelId: string | undefined, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(KEY + (channelId ?? "new"));
    else if (text.length < 200_000) sessionStorage.setItem(KEY + (channelId ?? "new"), text);
  } catch {
    return; // Without storage a reload loses it.
  }
}
