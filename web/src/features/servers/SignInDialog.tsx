import { useMutation, useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useEffect, useState } from "react";
import { api, read, type Schemas } from "@/shared/api/client";
import { Button, buttonClasses } from "@/shared/ui/Button";
import { CopyButton } from "@/shared/ui/CopyButton";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Spinner } from "@/shared/ui/Spinner";
import { toast } from "@/shared/ui/Toast";
import { serverById } from "./queries";

interface SignInProps {
  serverId: number;
  name: string;
  onClose: () => void;
}

/** The address comes from a stranger: only the web is opened. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url);

/** Signs in to a server: opens its page, and takes the address back from a browser on another machine. */
export function SignInDialog({ serverId, name, onClose }: SignInProps) {
  const params = { path: { server_id: serverId } };
  const start = useMutation({
    mutationFn: () => read(api.POST("/api/servers/{server_id}/login", { params })),
    onSuccess: ({ url }) => {
      if (isWebAddress(url)) window.open(url, "_blank", "noopener");
    },
  });
  const begin = start.mutate;
  useEffect(() => {
    begin();
  }, [begin]);
  useCloseWhenConnected(serverId, name, onClose);
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Sign in to ${name}`}
      description="Its own page asks who you are; the hub gets a token, never your password."
    >
      {start.isPending && <Spinner label="Asking the server where to sign in" />}
      {start.isError && (
        <ErrorState title="The sign-in could not begin" error={start.error} onRetry={() => begin()} />
      )}
      {start.data && <Waiting start={start.data} />}
    </Dialog>
  );
}

function useCloseWhenConnected(serverId: number, name: string, onClose: () => void) {
  const status = useQuery({ ...serverById(serverId), select: (server) => server.status }).data;
  const [before, setBefore] = useState(status);
  if (before === undefined && status !== undefined) setBefore(status);
  useEffect(() => {
    if (status !== "connected" || before === undefined || before === "connected") return;
    toast(`Signed in to ${name}`);
    onClose();
  }, [status, before, name, onClose]);
}

function Waiting({ start }: { start: Schemas["SignIn"] }) {
  const [pasted, setPasted] = useState("");
  const finish = useMutation({
    mutationFn: () =>
      read(
        api.POST("/api/servers/{server_id}/login/finish", {
          params: { path: { server_id: start.server_id } },
          body: { callback_url: pasted.trim() },
        }),
      ),
  });
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-col gap-2">
        <p className="text-sm">A new tab has opened. If it has not:</p>
        <div className="flex flex-wrap items-center gap-2">
          {isWebAddress(start.url) && (
            <a href={start.url} target="_blank" rel="noreferrer" className={buttonClasses("primary")}>
              <ExternalLink aria-hidden />
              Open the sign-in page
            </a>
          )}
          <CopyButton text={start.url} label="Copy the address" />
          <span className="text-xs text-ink-faint">
            It ends <RelativeTime at={start.expires_at} />.
          </span>
        </div>
        <p className="max-h-16 overflow-y-auto font-mono text-2xs text-ink-faint [overflow-wrap:anywhere]">
          {start.url}
        </p>
      </div>
      <form
        className="flex flex-col gap-3 border-t border-line pt-4"
        onSubmit={(event) => {
          event.preventDefault();
          finish.mutate();
        }}
      >
        <Field
          label="Signed in with a browser on another machine?"
          hint={`It ends at ${start.redirect_uri}… and finds nothing there. Paste that whole address here.`}
          error={
            finish.error?.message ??
            (finish.data && !finish.data.ok
              ? `Signed in, but it cannot be connected: ${finish.data.error}`
              : undefined)
          }
        >
          {(wiring) => (
            <Input
              {...wiring}
              value={pasted}
              spellCheck={false}
              autoComplete="off"
              placeholder={`${start.redirect_uri}?code=…`}
              className="font-mono text-xs"
              onChange={(event) => setPasted(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" className="self-end" disabled={!pasted.trim()} busy={finish.isPending}>
          Finish signing in
        </Button>
      </form>
    </div>
  );
}
