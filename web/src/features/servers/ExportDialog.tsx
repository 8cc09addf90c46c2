import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { serversKey } from "./queries";

/** The servers as a file that other clients read. */
export function ExportDialog({ onClose }: { onClose: () => void }) {
  const found = useQuery({
    queryKey: [...serversKey, "export"],
    queryFn: () => read(api.GET("/api/servers/export")),
    gcTime: 0,
  });
  const { notes, ...config } = (found.data ?? {}) as { notes?: string[] };
  const text = JSON.stringify(config, null, 2);
  return (
    <Dialog
      open
      onClose={onClose}
      width="lg"
      title="Export"
      description="The global servers as mcpServers JSON, without secrets."
      footer={
        <Button tone="primary" icon={<Download />} disabled={!found.data} onClick={() => download(text)}>
          Download mcp.json
        </Button>
      }
    >
      {found.isPending && <SkeletonRows rows={3} />}
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {found.data && (
        <div className="flex flex-col gap-3">
          {notes && notes.length > 0 && (
            <ul className="list-disc rounded-md bg-warn-soft py-2 pr-3 pl-7 text-xs">
              {notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
          <CodeBlock code={text} language="json" fold={60} />
        </div>
      )}
    </Dialog>
  );
}

function download(text: string): void {
  const url = URL.createObjectURL(new Blob([`${text}\n`], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "mcp.json";
  link.click();
  URL.revokeObjectURL(url);
}
