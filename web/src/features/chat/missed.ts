/** What events tell about a conversation while it is being read for the first time: applied to what is then read. */
import type { ConversationPage } from "./queries";

export type Change = (page: ConversationPage) => ConversationPage;

class Missed {
  readonly #heard = new Map<string, Set<Change[]>>();

  /** An event changes a page; whoever reads that conversation now has to apply it as well. */
  add(channelId: string, change: Change): void {
    for (const changes of this.#heard.get(channelId) ?? []) changes.push(change);
  }

  async during(channelId: string, reading: () => Promise<ConversationPage>): Promise<ConversationPage> {
    const changes: Change[] = [];
    const all = this.#heard.get(channelId) ?? new Set();
    this.#heard.set(channelId, all.add(changes));
    try {
      const page = await reading();
      return changes.reduce((current, change) => change(current), page);
    } finally {
      all.delete(changes);
      if (all.size === 0) this.#heard.delete(channelId);
    }
  }
}

export const missed = new Missed();
