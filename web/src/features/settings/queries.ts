import { queryOptions } from "@tanstack/react-query";
import { api, read, type Schemas } from "@/shared/api/client";

export type Setting = Schemas["SettingInfo"];

export const settingsKey = ["settings"] as const;

export const settings = queryOptions({
  queryKey: [...settingsKey, "values"],
  queryFn: () => read(api.GET("/api/settings")),
});

/** Every setting with its meaning, its bounds, its default and its value. */
export const settingList = queryOptions({
  queryKey: [...settingsKey, "described"],
  queryFn: async () => (await read(api.GET("/api/settings/schema"))).items,
});

/** `null` goes back to the default. */
export const changeSetting = (name: string, value: unknown) =>
  read(api.PATCH("/api/settings", { body: { [name]: value } }));
