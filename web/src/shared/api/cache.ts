/**
 * What has been read from the API and is kept. Events keep it true (`features/<domain>/live.ts`), so nothing in it grows
 * old by itself and nothing is polled.
 */
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client";

const TRIES = 2;

/** What will not work the second time either: refused, not there, signed out, or nobody answers. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && (error.isGone || (error.status >= 400 && error.status < 500));

export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      networkMode: "always",
      retry: (count, error) => count < TRIES && !isFinal(error),
    },
    mutations: { networkMode: "always" },
  },
});
