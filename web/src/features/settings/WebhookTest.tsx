import { useMutation, useQuery } from "@tanstack/react-query";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { toast } from "@/shared/ui/Toast";
import { settings } from "./queries";

/** Sends one message to the webhook, once there is one. */
export function WebhookTest() {
  const found = useQuery(settings);
  const test = useMutation({
    mutationFn: () => read(api.POST("/api/webhook/test")),
    onSuccess: (trial) =>
      trial.ok ? toast("The webhook took the message") : toast.error(trial.error ?? "The webhook refused it"),
    onError: toast.error,
  });
  if (!found.data?.webhook_url) return null;
  return (
    <Button size="sm" busy={test.isPending} onClick={() => test.mutate()}>
      Test the webhook
    </Button>
  );
}
