import { useQuery } from "@tanstack/react-query";
import { CircleX, Download, Ellipsis, ExternalLink, Link2, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { buttonClasses } from "@/shared/ui/Button";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import { type Tab, Tabs } from "@/shared/ui/Tabs";
import { toast } from "@/shared/ui/Toast";
import { Console } from "./Console";
import { Files } from "./Files";
import { errorsSinceOpened } from "./lines";
import { PageFrame } from "./PageFrame";
import { consoleLines, exportAddress, keyOf, type Playground, removePlayground } from "./queries";
import { useReloads } from "./useReloads";

type Part = "page" | "files" | "console";

/** One playground: its page, its files, its console. */
export function PlaygroundView({ playground, onGone }: { playground: Playground; onGone: () => void }) {
  const key = keyOf(playground);
  const [part, setPart] = useState<Part>("page");
  const [reloads, reload] = useReloads(playground);
  const lines = useQuery(consoleLines(key)).data;
  const errors = errorsSinceOpened(lines ?? []);
  const tabs: Tab<Part>[] = [
    {
      value: "page",
      label: "Page",
      content: <PageFrame playground={playground} reloads={reloads} />,
      keep: true,
    },
    { value: "files", label: "Files", count: playground.file_count, content: <Files of={key} /> },
    {
      value: "console",
      label: errors > 0 ? <WithErrors count={errors} /> : "Console",
      count: lines?.length,
      content: <Console of={key} />,
    },
  ];
  return (
    <section aria-labelledby="playground" className="flex min-w-0 flex-col gap-2">
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <h2 id="playground" className="truncate text-lg font-semibold" title={playground.title}>
            {playground.title}
          </h2>
          {playground.description && <p className="text-sm text-ink-soft">{playground.description}</p>}
        </div>
        <Actions playground={playground} onReload={reload} onGone={onGone} />
      </header>
      <Tabs label="Parts of the playground" tabs={tabs} value={part} onChange={setPart} />
    </section>
  );
}

const WithErrors = ({ count }: { count: number }) => (
  <span className="inline-flex items-center gap-1.5 text-bad-ink">
    <CircleX aria-hidden className="size-3.5" />
    Console<span className="sr-only">, {count === 1 ? "1 error" : `${count} errors`}</span>
  </span>
);

interface ActionsProps {
  playground: Playground;
  onReload: () => void;
  onGone: () => void;
}

function Actions({ playground, onReload, onGone }: ActionsProps) {
  const [asked, setAsked] = useState(false);
  const url = playground.url;
  const copy = () =>
    void navigator.clipboard.writeText(url ?? "").then(() => toast("The address is copied"), toast.error);
  return (
    <div className="flex gap-2">
      <IconButton tone="plain" label="Reload the page" icon={<RotateCw />} onClick={onReload} />
      <a
        href={exportAddress(keyOf(playground))}
        download={`${playground.name}.html`}
        className={buttonClasses()}
      >
        <Download aria-hidden />
        Export
      </a>
      <Menu
        trigger={<IconButton tone="plain" label="More for this playground" icon={<Ellipsis />} />}
        entries={[
          {
            label: "Open in a new tab",
            icon: <ExternalLink />,
            disabled: !url,
            onSelect: () => url && window.open(url, "_blank", "noopener,noreferrer"),
          },
          {
            label: "Copy the address",
            hint: "Whoever has it sees the page",
            icon: <Link2 />,
            disabled: !url,
            onSelect: copy,
          },
          "line",
          { label: "Delete", icon: <Trash2 />, danger: true, onSelect: () => setAsked(true) },
        ]}
      />
      <AlertDialog
        open={asked}
        onClose={() => setAsked(false)}
        title={`Delete ${playground.title}?`}
        description="It goes with all its files, and does not come back."
        action="Delete"
        danger
        onConfirm={() => removePlayground(keyOf(playground)).then(onGone, toast.error)}
      />
    </div>
  );
}
