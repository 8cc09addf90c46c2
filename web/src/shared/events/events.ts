/** The window's line to the daemon, and hooks to listen on it. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { onApiError, waitBeforeRequests } from "@/shared/api/client";
import { EventStream, type LineState } from "./stream";
import type { EventType, HubEvent } from "./types";

const FIRST_WAIT = 1500;
/** Words of a model need not come more often than a person sees them change, and hardly ever to a hidden window. */
const SEEN_PAUSE = 30;
const HIDDEN_PAUSE = 2000;

function address(): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${location.host}/api/ws`;
}

async function probe(): Promise<"signed_out" | "gone"> {
  try {
    const answer = await fetch("/api/settings", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    return answer.status === 401 ? "signed_out" : "gone";
  } catch {
    return "gone";
  }
}

export const events = new EventStream({ url: address(), probe });

/** Open the line; requests wait for it a moment, so that nothing is missed between an answer and an event. */
export function openLine(): void {
  const late = new Promise((resolve) => setTimeout(resolve, FIRST_WAIT));
  waitBeforeRequests(Promise.race([events.ready, late]).then(() => events.begin()));
  pace();
  events.start();
  const retry = () => events.retry();
  addEventListener("online", retry);
  document.addEventListener("visibilitychange", () => {
    pace();
    if (document.visibilityState === "visible") retry();
  });
  onApiError((error) => {
    if (error.status === 401) events.refuse();
  });
}

function pace(): void {
  events.pace(document.visibilityState === "hidden" ? HIDDEN_PAUSE : SEEN_PAUSE);
}

export const useLineState = (): LineState => useSyncExternalStore(events.watch, events.getState);

/** Hear events of some types while a component is shown. */
export function useEvent<T extends EventType>(
  type: T | readonly T[],
  listener: (event: HubEvent<T>) => void,
): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  const key = typeof type === "string" ? type : type.join();
  useEffect(() => events.on(key.split(",") as T[], (event) => latest.current(event)), [key]);
}
