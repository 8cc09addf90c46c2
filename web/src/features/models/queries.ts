import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, read, readAll, type Schemas } from "@/shared/api/client";

export type Model = Schemas["Model"];
export type Provider = Schemas["Provider"];
export type Trial = Schemas["Trial"];

export const modelsKey = ["models"] as const;

export const modelList = queryOptions({
  queryKey: [...modelsKey, "list"],
  queryFn: () => readAll((cursor) => read(api.GET("/api/models", { params: { query: { cursor } } }))),
});

export const providerList = queryOptions({
  queryKey: [...modelsKey, "providers"],
  queryFn: async () => (await read(api.GET("/api/providers"))).items,
});

const of = (id: string) => ({ path: { model_id: id } });

export const testModel = (id: string) => read(api.POST("/api/models/{model_id}/test", { params: of(id) }));
export const removeModel = (id: string) => read(api.DELETE("/api/models/{model_id}", { params: of(id) }));
export const makeDefault = (id: string) =>
  read(api.PATCH("/api/models/{model_id}", { params: of(id), body: { default: true } }));

/** Look for model servers on this machine now, even if that was done just before. */
export function useLookAgain() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () =>
      readAll((cursor) => read(api.GET("/api/models", { params: { query: { again: true, cursor } } }))),
    onSuccess: (models) => {
      cache.setQueryData(modelList.queryKey, models);
      void cache.invalidateQueries({ queryKey: providerList.queryKey });
    },
  });
}
