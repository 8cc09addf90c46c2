import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight } from "lucide-react";
import { useState } from "react";
import type { GalleryEntry } from "@/features/servers/gallery";
import { serverList } from "@/features/servers/queries";
import { AddServerDialog } from "@/features/servers/ServerDialog";
import { Gallery } from "@/features/servers/ServerGallery";
import { Button } from "@/shared/ui/Button";
import { StateDot } from "@/shared/ui/StateDot";

/** A first server, from those that many people use. */
export function ServerStep({ onDone }: { onDone: () => void }) {
  const servers = useQuery(serverList);
  const [picked, setPicked] = useState<GalleryEntry | null>(null);
  const [other, setOther] = useState(false);
  const there = servers.data ?? [];
  return (
    <div className="flex flex-col gap-4">
      {there.length > 0 && (
        <ul aria-label="Your servers" className="flex flex-wrap gap-2">
          {there.map((server) => (
            <li key={server.id}>
              <Link
                to="/servers/$serverId"
                params={{ serverId: String(server.id) }}
                className="flex items-center gap-2 rounded-full border border-line px-3 py-1 text-sm hover:bg-hover"
              >
                {server.name}
                <StateDot state={server.status} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      <Gallery onPick={setPicked} columns={2} most={8} />
      <div className="flex flex-wrap gap-2">
        <Button tone="quiet" onClick={() => setOther(true)}>
          Another server
        </Button>
        <Button tone="primary" onClick={onDone} className="ml-auto">
          {there.length > 0 ? "Done: to the chat" : "To the chat"}
          <ArrowRight aria-hidden />
        </Button>
      </div>
      {picked && <AddServerDialog key={picked.id} open entry={picked} onClose={() => setPicked(null)} />}
      {other && <AddServerDialog open onClose={() => setOther(false)} />}
    </div>
  );
}
