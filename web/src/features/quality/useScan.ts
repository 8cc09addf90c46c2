import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { toast } from "@/shared/ui/Toast";
import { cancelScan, type ScanState, scanState, startScan } from "./queries";

export interface Scanning {
  running: boolean;
  state: ScanState | undefined;
  start: () => void;
  cancel: () => void;
  ending: boolean;
}

/** The scan of a channel: whether one goes on, how far it is, and how to begin and end one. */
export function useScan(channelId: string): Scanning {
  const cache = useQueryClient();
  const wanted = scanState(channelId);
  const { data: state } = useQuery(wanted);
  // It may have ended before the answer is here: how it stands is asked, not guessed.
  const ask = () => cache.invalidateQueries({ queryKey: wanted.queryKey });
  const begin = useMutation({
    mutationFn: () => startScan(channelId),
    onSuccess: ask,
    onError: toast.error,
  });
  const end = useMutation({ mutationFn: () => cancelScan(channelId), onError: toast.error });
  return {
    running: begin.isPending || state?.running === true,
    state,
    start: () => begin.mutate(),
    cancel: () => end.mutate(),
    ending: end.isPending,
  };
}
