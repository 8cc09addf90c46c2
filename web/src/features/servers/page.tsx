import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Braces, ChevronRight, Download, Ellipsis, Plus, RefreshCw, Wrench } from "lucide-react";
import { useState } from "react";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import { Page } from "@/shared/ui/Page";
import { SearchInput } from "@/shared/ui/SearchInput";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { STATES } from "@/shared/ui/StateDot";
import { useReconnectAll } from "./actions";
import { placeOf } from "./draft";
import { ExportDialog } from "./ExportDialog";
import type { GalleryEntry } from "./gallery";
import { nativeTools, type Server, serverList } from "./queries";
import { AddServerDialog } from "./ServerDialog";
import { Gallery } from "./ServerGallery";
import { ServerRow } from "./ServerRow";

type Open = { what: "form" | "paste" | "export" } | { what: "entry"; entry: GalleryEntry } | null;

export default function ServersPage() {
  const servers = useQuery(serverList);
  const reconnectAll = useReconnectAll();
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const list = servers.data;
  return (
    <Page
      title="Servers"
      description={list && list.length > 0 ? summary(list) : "The MCP servers that lend their tools."}
      actions={
        <>
          <Button tone="primary" icon={<Plus />} onClick={() => setOpen({ what: "form" })}>
            Add server
          </Button>
          <Menu
            trigger={
              <IconButton
                label="More actions"
                tone="plain"
                icon={<Ellipsis />}
                busy={reconnectAll.isPending}
              />
            }
            entries={[
              { label: "Paste JSON", icon: <Braces />, onSelect: () => setOpen({ what: "paste" }) },
              {
                label: "Reconnect all",
                icon: <RefreshCw />,
                disabled: !list?.length,
                onSelect: () => reconnectAll.mutate(),
              },
              {
                label: "Export",
                icon: <Download />,
                disabled: !list?.length,
                onSelect: () => setOpen({ what: "export" }),
              },
            ]}
          />
        </>
      }
    >
      {servers.isPending && <SkeletonRows />}
      {servers.isError && (
        <ErrorState
          title="The servers could not be read"
          error={servers.error}
          onRetry={() => void servers.refetch()}
        />
      )}
      {list && list.length > 0 && <ServerRows servers={list} />}
      {list?.length === 0 && (
        <section aria-label="Well-known servers" className="flex flex-col gap-3">
          <div>
            <h2 className="text-md font-semibold">No servers yet: begin with one of these</h2>
            <p className="text-sm text-ink-soft">
              A server lends its tools to every conversation. Choose one, add your own, or paste the
              configuration of another client.
            </p>
          </div>
          <Gallery onPick={(entry) => setOpen({ what: "entry", entry })} />
        </section>
      )}
      {list && <BuiltIn />}
      <AddServerDialog
        open={open !== null && open.what !== "export"}
        onClose={close}
        entry={open?.what === "entry" ? open.entry : null}
        way={open?.what === "paste" ? "paste" : "form"}
      />
      {open?.what === "export" && <ExportDialog onClose={close} />}
    </Page>
  );
}

const WORDS: Record<string, string> = { error: "in error", needs_auth: "waiting for a sign-in" };

/** "4 connected · 1 in error" */
function summary(servers: readonly Server[]): string {
  const counts = new Map<string, number>();
  for (const { status } of servers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .map(([status, count]) => `${count} ${WORDS[status] ?? (STATES[status]?.word ?? status).toLowerCase()}`)
    .join(" · ");
}

const MANY = 6;

function ServerRows({ servers }: { servers: readonly Server[] }) {
  const [wanted, setWanted] = useState("");
  const shown = servers.filter((server) =>
    `${server.name} ${placeOf(server)} ${server.status}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <>
      {servers.length > MANY && (
        <SearchInput label="Search servers" value={wanted} onChange={setWanted} className="max-w-sm" />
      )}
      <Card flush className="overflow-hidden">
        <ul aria-label="Servers" className="-mt-1 divide-y divide-line">
          {shown.map((server) => (
            <ServerRow key={server.id} server={server} />
          ))}
        </ul>
        {shown.length === 0 && (
          <p className="px-4 py-8 text-center text-sm text-ink-soft">No server matches “{wanted}”.</p>
        )}
      </Card>
    </>
  );
}

function BuiltIn() {
  const tools = useQuery(nativeTools).data;
  const on = tools?.filter((tool) => tool.enabled).length;
  return (
    <Link
      to="/servers/native"
      className="flex items-center gap-3.5 rounded-lg border border-line bg-raised px-4 py-3 shadow-sm transition-colors duration-(--quick) hover:bg-hover"
    >
      <span
        aria-hidden
        className="grid size-9 shrink-0 place-items-center rounded-md bg-accent-soft text-accent-ink"
      >
        <Wrench className="size-4.5" />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block text-md font-semibold">Built-in tools</span>
        <span className="block text-xs text-ink-soft">
          What the hub can do by itself: files, commands, pages of the web.
          {tools && ` ${on} of ${tools.length} on.`}
        </span>
      </span>
      <ChevronRight aria-hidden className="size-4 text-ink-faint" />
    </Link>
  );
}
