import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, LogIn, LogOut, Pencil, Plug, Power, RefreshCw, Trash2, Unplug } from "lucide-react";
import { useState } from "react";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { Button } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu, type MenuEntry } from "@/shared/ui/Menu";
import { toast } from "@/shared/ui/Toast";
import { removeServer, useServerAct } from "./actions";
import type { Server } from "./queries";
import { EditServerDialog } from "./ServerDialog";
import { SignInDialog } from "./SignInDialog";

type Open = "edit" | "remove" | "sign-in" | null;

/** What can be done with a server: the likely next step as a button, the rest in a menu. */
export function ServerActions({ server, labelled = false }: { server: Server; labelled?: boolean }) {
  const act = useServerAct(server);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <div className="flex items-center gap-1.5">
      <NextStep server={server} act={act} labelled={labelled} onSignIn={() => setOpen("sign-in")} />
      {labelled && (
        <Button icon={<Pencil />} onClick={() => setOpen("edit")}>
          Edit
        </Button>
      )}
      <Menu
        trigger={
          <IconButton
            label={`More for ${server.name}`}
            icon={<Ellipsis />}
            tone={labelled ? "plain" : "quiet"}
          />
        }
        entries={entriesFor(server, act.mutate, setOpen)}
      />
      {open === "edit" && <EditServerDialog server={server} onClose={close} />}
      {open === "sign-in" && <SignInDialog serverId={server.id} name={server.name} onClose={close} />}
      <RemoveDialog server={server} open={open === "remove"} onClose={close} />
    </div>
  );
}

interface NextStepProps {
  server: Server;
  act: ReturnType<typeof useServerAct>;
  labelled: boolean;
  onSignIn: () => void;
}

function NextStep({ server, act, labelled, onSignIn }: NextStepProps) {
  if (server.status === "needs_auth" && server.signed_in !== null)
    return (
      <Button tone="primary" size={labelled ? "md" : "sm"} icon={<LogIn />} onClick={onSignIn}>
        Sign in
      </Button>
    );
  if (server.status === "disabled")
    return (
      <Button
        size={labelled ? "md" : "sm"}
        icon={<Power />}
        busy={act.isPending}
        onClick={() => act.mutate("enable")}
      >
        Enable
      </Button>
    );
  const label = server.status === "disconnected" ? "Connect" : "Reconnect";
  const run = () => act.mutate(server.status === "disconnected" ? "connect" : "reconnect");
  const icon = server.status === "disconnected" ? <Plug /> : <RefreshCw />;
  return labelled ? (
    <Button icon={icon} busy={act.isPending} onClick={run}>
      {label}
    </Button>
  ) : (
    <IconButton label={`${label} ${server.name}`} icon={icon} busy={act.isPending} onClick={run} />
  );
}

type Run = ReturnType<typeof useServerAct>["mutate"];

function entriesFor(server: Server, act: Run, open: (what: Open) => void): MenuEntry[] {
  const enabled = server.status !== "disabled";
  const down = server.status === "disconnected";
  const connections: MenuEntry[] = enabled
    ? [
        { label: "Reconnect", icon: <RefreshCw />, onSelect: () => act("reconnect") },
        down
          ? { label: "Connect", icon: <Plug />, onSelect: () => act("connect") }
          : { label: "Disconnect", icon: <Unplug />, onSelect: () => act("disconnect") },
      ]
    : [];
  return [
    { label: "Edit", icon: <Pencil />, onSelect: () => open("edit") },
    ...connections,
    ...signsFor(server, act, open),
    enabled
      ? { label: "Disable", icon: <Power />, hint: "Off until it is enabled", onSelect: () => act("disable") }
      : { label: "Enable", icon: <Power />, onSelect: () => act("enable") },
    "line",
    {
      label: "Remove…",
      icon: <Trash2 />,
      danger: true,
      disabled: Boolean(server.project),
      hint: server.project ? "Its project's file names it" : undefined,
      onSelect: () => open("remove"),
    },
  ];
}

/** Nothing for a local program, or for a server that has credentials of its own. */
function signsFor(server: Server, act: Run, open: (what: Open) => void): MenuEntry[] {
  if (server.signed_in === true)
    return [{ label: "Sign out", icon: <LogOut />, onSelect: () => act("logout") }];
  const disabled = server.status === "disabled";
  return server.signed_in === false
    ? [{ label: "Sign in", icon: <LogIn />, onSelect: () => open("sign-in"), disabled }]
    : [];
}

function RemoveDialog({ server, open, onClose }: { server: Server; open: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = async () => {
    try {
      await removeServer(server.id);
      toast(`${server.name} is removed`);
      void navigate({ to: "/servers" });
    } catch (error) {
      toast.error(error);
    }
  };
  return (
    <AlertDialog
      open={open}
      onClose={onClose}
      danger
      title={`Remove ${server.name}?`}
      description="It is ended and forgotten, with its secrets, its sign-in and everything that was allowed to it. What it was called for stays in the log."
      action="Remove"
      onConfirm={remove}
    />
  );
}
