import { useMutation } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { api, read, type Schemas } from "@/shared/api/client";
import { useEvent } from "@/shared/events/events";
import { Button, buttonClasses } from "@/shared/ui/Button";
import { CopyButton } from "@/shared/ui/CopyButton";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { Spinner } from "@/shared/ui/Spinner";
import { toast } from "@/shared/ui/Toast";

interface SignInProps {
  serverId: number;
  name: string;
  onClose: () => void;
}

/** The address comes from a stranger: only the web is opened. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url);

/** Signs in to a server: opens its page, and takes the address back from a browser on another machine. */
export function SignInDialog({ serverId, name, onClose }: SignInProps) {
  const [failure, setFailure] = useState<string>();
  const start = useMutation({
    mutationFn: () =>
      read(api.POST("/api/servers/{server_id}/login", { params: { path: { server_id: serverId } } })),
    onMutate: () => setFailure(undefined),
    onSuccess: ({ url }) => {
      if (isWebAddress(url)) window.open(url, "_blank", "noopener");
    },
  });
  const begin = start.mutate;
  useEffect(() => {
    begin();
  }, [begin]);
  useEvent("mcp.sign_in_ended", ({ data }) => {
    if (data.server_id !== serverId) return;
    if (!data.ok) return setFailure(data.error);
    toast(`Signed in to ${name}`);
    onClose();
  });
  const ending = useCallback(() => setFailure("It has waited too long for an answer."), []);
  const problem = failure ?? start.error;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Sign in to ${name}`}
      description="Its own page asks who you are; the hub gets a token, never your password."
    >
      {start.isPending && <Spinner label="Asking the server where to sign in" />}
      {problem && !start.isPending && (
        <ErrorState
          title={start.isError ? "The sign-in could not begin" : "The sign-in did not work"}
          error={problem}
          onRetry={() => begin()}
        />
      )}
      {start.data && !problem && <Waiting start={start.data} onExpired={ending} />}
    </Dialog>
  );
}

function useExpiry(at: string, onExpired: () => void) {
  useEffect(() => {
    const timer = setTimeout(onExpired, new Date(at).getTime() - Date.now());
    return () => clearTimeout(timer);
  }, [at, onExpired]);
}

function Waiting({ start, onExpired }: { start: Schemas["SignIn"]; onExpired: () => void }) {
  const [pasted, setPasted] = useState("");
  useExpiry(start.expires_at, onExpired);
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
        <section
          aria-label="Address"
          tabIndex={0}
          className="max-h-16 overflow-y-auto font-mono text-2xs text-ink-faint [overflow-wrap:anywhere]"
        >
          {start.url}
        </section>
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
          error={finish.error?.message}
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
