import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Save, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { formatBytes } from "@/shared/format/format";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { Button } from "@/shared/ui/Button";
import { ErrorState } from "@/shared/ui/ErrorState";
import { IconButton } from "@/shared/ui/IconButton";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { fileContent, type Key, removeFile, writeFile } from "./queries";

const Editor = lazy(() => import("./Editor"));

/** One file: read, changed, saved. What somebody else writes meanwhile shows unless it was changed here. */
export function FileEditor({ of, path, onGone }: { of: Key; path: string; onGone: () => void }) {
  const cache = useQueryClient();
  const file = useQuery(fileContent(of, path));
  const [draft, setDraft] = useState<string | null>(null);
  const [asked, setAsked] = useState(false);
  const kept = file.data?.content ?? "";
  const changed = draft !== null && draft !== kept;
  const save = useMutation({
    mutationFn: (text: string) => writeFile(of, path, text),
    onSuccess: (written, text) => {
      cache.setQueryData(
        fileContent(of, path).queryKey,
        (old) => old && { ...old, ...written, content: text },
      );
      // What was typed meanwhile is still to be saved.
      setDraft((now) => (now === text ? null : now));
      toast(`${path} is saved`);
    },
    onError: toast.error,
  });
  const remove = () => removeFile(of, path).then(onGone, toast.error);
  if (file.isPending) return <SkeletonRows />;
  if (file.isError)
    return (
      <ErrorState title="The file could not be read" error={file.error} onRetry={() => void file.refetch()} />
    );
  return (
    <section aria-label={path} className="flex h-full min-w-0 flex-col">
      <header className="flex items-center gap-2 border-b border-line px-3 py-2">
        <h3 className="min-w-0 flex-1 truncate font-mono text-xs" title={path}>
          {path}
          <span className="ml-2 text-ink-faint">{changed ? "not saved" : formatBytes(file.data.size)}</span>
        </h3>
        {path !== "index.html" && (
          <IconButton size="sm" label={`Delete ${path}`} icon={<Trash2 />} onClick={() => setAsked(true)} />
        )}
        <Button
          size="sm"
          tone={changed ? "primary" : "plain"}
          icon={<Save />}
          busy={save.isPending}
          disabled={!changed}
          onClick={() => draft !== null && save.mutate(draft)}
        >
          Save
        </Button>
      </header>
      {file.data.encoding === "base64" ? (
        <p className="px-4 py-10 text-center text-sm text-ink-soft">This is no text.</p>
      ) : (
        <div className="min-h-0 flex-1 overflow-hidden">
          <Suspense fallback={<SkeletonRows />}>
            <Editor
              path={path}
              text={kept}
              onChange={(text) => setDraft(text === kept ? null : text)}
              onSave={() => changed && save.mutate(draft)}
            />
          </Suspense>
        </div>
      )}
      <AlertDialog
        open={asked}
        onClose={() => setAsked(false)}
        title={`Delete ${path}?`}
        description="The page is shown without it from then on."
        action="Delete"
        danger
        onConfirm={remove}
      />
    </section>
  );
}
