/**
 * The one line on which the daemon tells what happens: a WebSocket per window that comes back by itself.
 *
 * It owns connecting, resuming (`since`) and handing out events; what an event means is the features' business.
 */
import type { EventType, HubEvent } from "./types";

/** `gone`: the daemon does not answer; `signed_out`: it answers, but not to this browser. */
export type LineState = "connecting" | "live" | "gone" | "signed_out";

type Listener<T extends EventType> = (event: HubEvent<T>) => void;
type AnyListener = (event: HubEvent) => void;

export interface StreamOptions {
  url: string;
  open?: (url: string) => WebSocket;
  /** Why a socket could not be opened; a browser does not say. */
  probe?: () => Promise<"signed_out" | "gone">;
  firstPause?: number;
  longestPause?: number;
}

export class EventStream {
  state: LineState = "connecting";
  /** When the next attempt is made, in ms since the epoch; null while there is a line. */
  nextAttemptAt: number | null = null;
  /** Settled once the first attempt has succeeded or failed. */
  readonly ready: Promise<void>;

  #seq: number | null = null;
  #wasLive = false;
  #readBlind = false;
  #attempt = 0;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  #pauseMs = 0;
  #settle: () => void = () => {};
  readonly #listeners = new Map<EventType | "*", Set<AnyListener>>();
  readonly #watchers = new Set<() => void>();
  readonly #resumed = new Set<() => void>();
  readonly #options: Required<StreamOptions>;

  constructor(options: StreamOptions) {
    this.#options = {
      open: (url) => new WebSocket(url),
      probe: async () => "gone",
      firstPause: 400,
      longestPause: 8_000,
      ...options,
    };
    this.ready = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  start(): void {
    this.#stopped = false;
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = null;
  }

  /** Reading begins. What happens between that and a line that is not there yet is told by a `gap`. */
  begin(): void {
    this.#readBlind = this.state !== "live";
  }

  /** Try now instead of later. */
  retry(): void {
    if (this.#stopped || this.#socket !== null) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  /** How often words of models are wanted: those of one pause come together. */
  pace(pauseMs: number): void {
    this.#pauseMs = pauseMs;
    if (this.state === "live") this.#socket?.send(JSON.stringify({ pause_ms: pauseMs }));
  }

  /** A request was refused: this browser is not signed in (any more). */
  refuse(): void {
    this.#become("signed_out");
  }

  on<T extends EventType>(type: T | readonly T[], listener: Listener<T>): () => void {
    const types = (typeof type === "string" ? [type] : type) as readonly T[];
    for (const one of types) this.#of(one).add(listener as AnyListener);
    return () => {
      for (const one of types) this.#of(one).delete(listener as AnyListener);
    };
  }

  onAny(listener: AnyListener): () => void {
    this.#of("*").add(listener);
    return () => this.#of("*").delete(listener);
  }

  /** After a break: what lives in memory only (deltas, progress) may have been missed. */
  onResumed(listener: () => void): () => void {
    this.#resumed.add(listener);
    return () => this.#resumed.delete(listener);
  }

  /** For `useSyncExternalStore`. */
  readonly watch = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  readonly getState = (): LineState => this.state;

  #of(type: EventType | "*"): Set<AnyListener> {
    let found = this.#listeners.get(type);
    if (found === undefined) {
      found = new Set();
      this.#listeners.set(type, found);
    }
    return found;
  }

  #connect(): void {
    const since = this.#seq === null ? "" : `?since=${this.#seq}`;
    const socket = this.#options.open(`${this.#options.url}${since}`);
    this.#socket = socket;
    this.nextAttemptAt = null;
    socket.addEventListener("open", () => this.#opened(socket));
    socket.addEventListener("message", (message) => this.#take(message.data));
    socket.addEventListener("close", () => void this.#closed(socket));
  }

  #opened(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    const resumed = this.#wasLive || this.#attempt > 0;
    // With no number yet, nothing could be asked for.
    const missed = this.#seq === null && (resumed || this.#readBlind);
    this.#wasLive = true;
    this.#attempt = 0;
    this.#become("live");
    this.#settle();
    if (this.#pauseMs > 0) this.pace(this.#pauseMs);
    if (resumed) for (const tell of this.#resumed) tell();
    if (missed) this.#tell({ seq: 0, type: "gap", channel_id: null, data: {}, at: new Date().toISOString() });
  }

  #take(text: unknown): void {
    const event = parse(text);
    if (event === null) return;
    if (this.#seq !== null && event.seq <= this.#seq && event.type !== "gap") return;
    this.#seq = Math.max(this.#seq ?? 0, event.seq);
    this.#tell(event);
  }

  #tell(event: HubEvent): void {
    for (const listener of [...this.#of(event.type), ...this.#of("*")]) listener(event);
  }

  async #closed(socket: WebSocket): Promise<void> {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#settle();
    if (this.#stopped) return;
    const pause = Math.min(this.#options.firstPause * 2 ** this.#attempt, this.#options.longestPause);
    this.#attempt += 1;
    this.nextAttemptAt = Date.now() + pause;
    this.#timer = setTimeout(() => this.#connect(), pause);
    const state = await this.#options.probe();
    if (this.state !== "live" || this.#socket === null) this.#become(state);
  }

  #become(state: LineState): void {
    this.state = state;
    for (const changed of this.#watchers) changed();
  }
}

function parse(text: unknown): HubEvent | null {
  try {
    const event = JSON.parse(String(text)) as HubEvent;
    return typeof event.seq === "number" && typeof event.type === "string" ? event : null;
  } catch {
    return null;
  }
}
