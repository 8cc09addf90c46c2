/** What a person can do with a server; each says in a word how it went. */
import { useMutation } from "@tanstack/react-query";
import { api, read } from "@/shared/api/client";
import { toast } from "@/shared/ui/Toast";
import type { Server } from "./queries";

export type Act = "connect" | "reconnect" | "disconnect" | "enable" | "disable" | "logout";

const DONE: Record<Act, string> = {
  connect: "is connected",
  reconnect: "is connected again",
  disconnect: "is disconnected",
  enable: "is enabled",
  disable: "is disabled",
  logout: "is signed out",
};

const send = (act: Act, id: number) => {
  const params = { path: { server_id: id } };
  switch (act) {
    case "connect":
      return read(api.POST("/api/servers/{server_id}/connect", { params }));
    case "reconnect":
      return read(api.POST("/api/servers/{server_id}/reconnect", { params }));
    case "disconnect":
      return read(api.POST("/api/servers/{server_id}/disconnect", { params }));
    case "enable":
      return read(api.POST("/api/servers/{server_id}/enable", { params }));
    case "disable":
      return read(api.POST("/api/servers/{server_id}/disable", { params }));
    case "logout":
      return read(api.POST("/api/servers/{server_id}/logout", { params }));
  }
};

export function useServerAct(server: Pick<Server, "id" | "name">) {
  return useMutation({
    mutationFn: (act: Act) => send(act, server.id),
    // What went wrong stands in full where the server is shown.
    onSuccess: (outcome, act) =>
      outcome.ok
        ? toast(`${server.name} ${DONE[act]}`)
        : toast.error(`${server.name} could not be connected`),
    onError: toast.error,
  });
}

export const removeServer = (id: number) =>
  read(api.DELETE("/api/servers/{server_id}", { params: { path: { server_id: id } } }));

export const useReconnectAll = () =>
  useMutation({
    mutationFn: () => read(api.POST("/api/servers/reconnect-all")),
    onSuccess: ({ items }) => {
      const failed = items.filter((outcome) => !outcome.ok).length;
      toast(
        failed === 0
          ? `${items.length} ${items.length === 1 ? "server is" : "servers are"} connected again`
          : `${items.length - failed} of ${items.length} servers are connected again`,
      );
    },
    onError: toast.error,
  });
