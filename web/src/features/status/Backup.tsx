import { useMutation } from "@tanstack/react-query";
import { Archive } from "lucide-react";
import { useState } from "react";
import { ApiError, api, read, type Schemas } from "@/shared/api/client";
import { formatBytes } from "@/shared/format/format";
import { Button } from "@/shared/ui/Button";
import { Checkbox } from "@/shared/ui/Checkbox";
import { CopyButton } from "@/shared/ui/CopyButton";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";

/** Beside the home, named by the minute. */
export function backupPath(home: string, now = new Date()): string {
  const cut = Math.max(home.lastIndexOf("/"), home.lastIndexOf("\\"));
  const slash = home.includes("\\") ? "\\" : "/";
  const stamp = now.toISOString().slice(0, 16).replace("T", "-").replace(":", "");
  return `${home.slice(0, Math.max(cut, 0))}${slash}manyhands-${stamp}.tar.gz`;
}

export function BackupButton({ status }: { status: Schemas["Status"] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" icon={<Archive />} onClick={() => setOpen(true)}>
        Back up
      </Button>
      {open && <BackupDialog home={status.home} onClose={() => setOpen(false)} />}
    </>
  );
}

function BackupDialog({ home, onClose }: { home: string; onClose: () => void }) {
  const [path, setPath] = useState(() => backupPath(home));
  const [keys, setKeys] = useState(false);
  const make = useMutation({ mutationFn: () => read(api.POST("/api/backup", { body: { path, keys } })) });
  const made = make.data;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Back up everything"
      description="One file on the hub's machine, written while it works. Nothing is overwritten."
      footer={
        made ? (
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button tone="primary" busy={make.isPending} onClick={() => make.mutate()}>
              Back up
            </Button>
          </>
        )
      }
    >
      {made ? (
        <div role="status" className="flex flex-col gap-3 text-sm">
          <p>
            {formatBytes(made.bytes)} were written to{" "}
            <code className="[overflow-wrap:anywhere]">{made.path}</code>
          </p>
          <p className="flex items-center gap-1 rounded-md bg-sunken py-1 pr-1 pl-3">
            <code className="min-w-0 flex-1 text-xs [overflow-wrap:anywhere]">
              manyhands restore {made.path}
            </code>
            <CopyButton text={`manyhands restore ${made.path}`} label="Copy the command" />
          </p>
          <p className="text-ink-soft">That command brings it back, while no hub runs.</p>
        </div>
      ) : (
        <div className="flex flex-col gap-4">
          <Field
            label="File"
            hint="A whole path, on the hub's machine."
            error={make.isError && said(make.error)}
          >
            {(wiring) => (
              <Input
                {...wiring}
                value={path}
                spellCheck={false}
                onChange={(event) => setPath(event.target.value)}
              />
            )}
          </Field>
          <Checkbox
            checked={keys}
            onChange={setKeys}
            label="Put the owner's token and the key of the secrets into it too. Keep such a file as safe as the keys."
          />
        </div>
      )}
    </Dialog>
  );
}

const said = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof ApiError && error.hint ? `${text} ${error.hint}` : text;
};
