/** What a person does in a conversation. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, read } from "@/shared/api/client";
import { toast } from "@/shared/ui/Toast";
import type { Channel } from "./queries";

export interface Attached {
  name: string;
  mime: string;
  /** Base64. */
  data: string;
  size: number;
}

export const useSend = () =>
  useMutation({
    mutationFn: (said: { channelId: string; content: string; attachments: readonly Attached[] }) =>
      read(
        api.POST("/api/messages", {
          body: {
            channel_id: said.channelId,
            content: said.content,
            author_id: "owner",
            attachments: said.attachments.map(({ name, mime, data }) => ({ name, mime, data })),
          },
        }),
      ),
    onError: toast.error,
  });

export const useStop = () =>
  useMutation({
    mutationFn: (run_id: string) =>
      read(api.POST("/api/runs/{run_id}/cancel", { params: { path: { run_id } } })),
    onError: toast.error,
  });

export const useResend = (channelId: string) =>
  useMutation({
    mutationFn: (body: { message_id: string; content: string }) =>
      read(
        api.POST("/api/channels/{channel_id}/resend", { params: { path: { channel_id: channelId } }, body }),
      ),
    onSuccess: () => toast("Sent again. The conversation as it was is kept in a thread."),
    onError: toast.error,
  });

export function useFork(channelId: string) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (message_id: string) =>
      read(
        api.POST("/api/channels/{channel_id}/fork", {
          params: { path: { channel_id: channelId } },
          body: { message_id },
        }),
      ),
    onSuccess: (thread) => {
      toast("Forked into a new thread");
      void navigate({ to: "/c/$channelId", params: { channelId: thread.id } });
    },
    onError: toast.error,
  });
}

/** Save what the hub answers as a file. */
export function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  document.body.append(link);
  link.click();
  link.remove();
}

/** A file as base64, read by the browser itself. */
export function readFile(file: File): Promise<Attached> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error(`${file.name} could not be read.`));
    reader.onload = () => {
      const address = String(reader.result);
      const mime = file.type || "application/octet-stream";
      resolve({
        name: file.name || "pasted",
        mime,
        data: address.slice(address.indexOf(",") + 1),
        size: file.size,
      });
    };
    reader.readAsDataURL(file);
  });
}

/** A new channel; where a directory has one already, a thread of it. */
export async function createChannel(name: string, directory: string | null): Promise<Channel> {
  const body = { name: name || null, dir_path: directory, platform: "local", fresh: directory === null };
  const answer = api.POST("/api/channels", { body });
  const channel = await read(answer);
  const known = (await answer).response.status === 200;
  if (!known || !name) return channel;
  return read(api.POST("/api/threads", { body: { channel_id: channel.id, name } }));
}
