import { useQuery } from "@tanstack/react-query";
import { pendingApprovals } from "@/features/approvals/queries";

/** Whether something in this channel waits for a person. */
export const usePendingIn = (channelId: string): boolean =>
  useQuery({ ...pendingApprovals, select: (list) => list.some((one) => one.channel_id === channelId) })
    .data ?? false;
