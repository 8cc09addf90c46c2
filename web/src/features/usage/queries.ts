import { queryOptions } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type UsageRow = Schemas["UsageRow"];
export type UsageBy = "run" | "server" | "channel" | "model";
export type Split = "model" | "channel" | "server";

export const usageKey = ["usage"] as const;

/** The person's own zone: their days begin at their midnight. */
const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export const usageBy = (by: UsageBy, since: string) =>
  queryOptions({
    queryKey: [...usageKey, by, since],
    queryFn: () =>
      readAll((cursor) =>
        read(api.GET("/api/usage", { params: { query: { by, since, limit: 500, cursor } } })),
      ),
    placeholderData: (before) => before,
  });

export const usageByDay = (split: Split, since: string) =>
  queryOptions({
    queryKey: [...usageKey, "day", split, since],
    queryFn: () =>
      readAll(
        (cursor) =>
          read(
            api.GET("/api/usage", {
              params: { query: { by: "day", split, since, zone: zone(), limit: 500, cursor } },
            }),
          ),
        50_000,
      ),
    placeholderData: (before) => before,
  });
