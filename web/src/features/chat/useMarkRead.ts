import { useEffect, useRef } from "react";
import { api } from "@/shared/api/client";
import type { Message } from "./queries";

/** Whoever looks at a conversation has read it; told to the hub, so that other windows know. */
export function useMarkRead(channelId: string, messages: readonly Message[]): void {
  const last = messages.at(-1)?.id;
  const told = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (last === undefined) return;
    const tell = () => {
      if (document.visibilityState !== "visible" || told.current === last) return;
      told.current = last;
      void api
        .PUT("/api/channels/{channel_id}/read", {
          params: { path: { channel_id: channelId } },
          body: { message_id: last },
        })
        .catch(() => {
          told.current = undefined; // the hub is away; the next message tells it
        });
    };
    tell();
    document.addEventListener("visibilitychange", tell);
    return () => document.removeEventListener("visibilitychange", tell);
  }, [channelId, last]);
}
