import { useMutation, useQuery } from "@tanstack/react-query";
import { channelList } from "@/features/chat/queries";
import { api, read } from "@/shared/api/client";
import { Card } from "@/shared/ui/Card";
import { Select } from "@/shared/ui/Select";
import { toast } from "@/shared/ui/Toast";
import type { Server } from "./queries";

const NONE = "none";

export const takesPart = (server: Server): boolean => {
  const declared = (server.capabilities as { experimental?: Record<string, unknown> } | null)?.experimental;
  return declared?.["claude/channel"] !== undefined;
};

/** Into which channel a server may push messages, where it can also answer for the person. */
export function ChannelPush({ server }: { server: Server }) {
  const channels = useQuery(channelList).data ?? [];
  const save = useMutation({
    mutationFn: (channel: string) =>
      read(
        api.PUT("/api/servers/{server_id}", {
          params: { path: { server_id: server.id } },
          body: { name: server.name, channel_push: channel === NONE ? null : channel },
        }),
      ),
    onError: toast.error,
  });
  return (
    <Card
      title="Take part in a channel"
      description="It can push messages there, and whoever writes through it can answer approvals that wait there, except those of its own calls."
    >
      <Select
        label="Channel that it takes part in"
        value={server.channel_push ?? NONE}
        disabled={save.isPending}
        options={[
          { value: NONE, label: "None" },
          ...channels.map((one) => ({ value: one.id, label: one.name })),
        ]}
        onChange={(channel) => save.mutate(channel)}
      />
    </Card>
  );
}
