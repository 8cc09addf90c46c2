import { queryOptions } from "@tanstack/react-query";
import { api, read } from "@/shared/api/client";

export const status = queryOptions({ queryKey: ["status"], queryFn: () => read(api.GET("/api/status")) });
