/**
 * Which of the open windows tells the person. Web Locks decide: the notifier's is held by one window for as long as it
 * lives, the watcher's is shared by all windows that can be seen.
 */
const NOTIFIER = "manyhands-notifier";
const SEEN = "manyhands-seen";

export class OneWindow {
  isNotifier = false;
  private letGo: (() => void) | null = null;

  constructor(
    private readonly locks: LockManager,
    private readonly page: Document = document,
  ) {}

  /** Take part: from now on one window of this browser is the notifier, and all know whether one is seen. */
  start(): void {
    void this.locks.request(NOTIFIER, () => {
      this.isNotifier = true;
      return new Promise(() => {});
    });
    this.page.addEventListener("visibilitychange", () => this.showWhetherSeen());
    this.showWhetherSeen();
  }

  /** Whether this window should tell the person now: no window is seen, and it is this one's turn. */
  async shouldTell(): Promise<boolean> {
    if (!this.isNotifier || this.page.visibilityState === "visible") return false;
    const { held = [] } = await this.locks.query();
    return !held.some((lock) => lock.name === SEEN);
  }

  private showWhetherSeen(): void {
    if (this.page.visibilityState !== "visible") {
      this.letGo?.();
      this.letGo = null;
    } else if (this.letGo === null) {
      const held = new Promise<void>((resolve) => {
        this.letGo = resolve;
      });
      void this.locks.request(SEEN, { mode: "shared" }, () => held);
    }
  }
}
