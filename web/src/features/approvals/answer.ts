import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, api, read, type Schemas } from "@/shared/api/client";
import { toast } from "@/shared/ui/Toast";
import { pendingApprovals } from "./queries";

export type AnswerBody = Schemas["ApprovalAnswer"];

/** Says the person's word; the first one counts, in whichever window it was said. */
export function useAnswer(approvalId: string) {
  const cache = useQueryClient();
  const gone = () =>
    cache.setQueryData(pendingApprovals.queryKey, (list) => list?.filter((one) => one.id !== approvalId));
  return useMutation({
    mutationFn: (body: AnswerBody) =>
      read(api.POST("/api/approvals/{approval_id}", { params: { path: { approval_id: approvalId } }, body })),
    onSuccess: gone,
    onError: (error) => {
      if (error instanceof ApiError && (error.status === 409 || error.status === 404)) gone();
      toast.error(error);
    },
  });
}
