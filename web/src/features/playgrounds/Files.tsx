import { useMutation, useQuery } from "@tanstack/react-query";
import { FilePlus2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "@/shared/ui/Button";
import { classes } from "@/shared/ui/classes";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Input } from "@/shared/ui/Input";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { toast } from "@/shared/ui/Toast";
import { FileEditor } from "./FileEditor";
import { fileList, type Key, writeFile } from "./queries";

export function Files({ of }: { of: Key }) {
  const files = useQuery(fileList(of));
  const [chosen, setChosen] = useState("index.html");
  if (files.isPending) return <SkeletonRows />;
  if (files.isError)
    return (
      <ErrorState
        title="The files could not be read"
        error={files.error}
        onRetry={() => void files.refetch()}
      />
    );
  const open = files.data.find((file) => file.path === chosen) ?? files.data[0];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] overflow-hidden rounded-lg border border-line bg-raised shadow-sm md:grid-cols-[13rem_minmax(0,1fr)]">
      <div className="flex flex-col border-line border-b md:border-r md:border-b-0">
        <ul
          aria-label="Files"
          className="flex max-h-40 flex-col overflow-y-auto p-1.5 md:max-h-none md:flex-1"
        >
          {files.data.map((file) => (
            <li key={file.path}>
              <button
                type="button"
                aria-current={file.path === open?.path || undefined}
                onClick={() => setChosen(file.path)}
                title={file.path}
                className={classes(
                  "w-full truncate rounded-sm px-2 py-1.5 text-left font-mono text-xs -outline-offset-1 hover:bg-hover",
                  file.path === open?.path ? "bg-pressed text-ink" : "text-ink-soft",
                )}
              >
                {file.path}
              </button>
            </li>
          ))}
        </ul>
        <NewFile of={of} onMade={setChosen} />
      </div>
      <div className="h-[max(22rem,calc(100dvh-16rem))] min-w-0">
        {open && (
          <FileEditor key={open.path} of={of} path={open.path} onGone={() => setChosen("index.html")} />
        )}
      </div>
    </div>
  );
}

function NewFile({ of, onMade }: { of: Key; onMade: (path: string) => void }) {
  const [path, setPath] = useState("");
  const make = useMutation({
    mutationFn: () => writeFile(of, path.trim(), ""),
    onSuccess: (file) => {
      setPath("");
      onMade(file.path);
    },
    onError: toast.error,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim()) make.mutate();
  };
  return (
    <form onSubmit={submit} className="flex gap-1.5 border-line border-t p-1.5">
      <Input
        aria-label="Path of a new file"
        placeholder="lib/new.js"
        value={path}
        onChange={(event) => setPath(event.target.value)}
        className="min-w-0 flex-1 font-mono text-xs"
      />
      <Button
        type="submit"
        icon={<FilePlus2 />}
        busy={make.isPending}
        disabled={!path.trim()}
        aria-label="Add file"
      />
    </form>
  );
}
