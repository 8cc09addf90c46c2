import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { channelList } from "@/features/chat/queries";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { Select } from "@/shared/ui/Select";
import { Textarea } from "@/shared/ui/Textarea";
import { asText, type Key, savePlayground } from "./queries";

const GLOBAL = "global";
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** A new playground with a page that is still almost empty. */
export function NewPlayground({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const [name, setName] = useState("");
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const [where, setWhere] = useState(GLOBAL);
  const channels = useQuery(channelList).data ?? [];
  const key: Key = { name: name.trim(), channelId: where === GLOBAL ? null : where };
  const make = useMutation({
    mutationFn: () =>
      savePlayground(key, { title: title.trim() || key.name, description: description.trim() }),
    onSuccess: () => onMade(asText(key)),
  });
  const projects = channels.filter((one) => one.dir_path && !one.parent_id);
  return (
    <Dialog
      open
      onClose={onClose}
      title="New playground"
      description="A small page of its own. Agents make them, too."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            disabled={!NAME.test(key.name)}
            busy={make.isPending}
            onClick={() => make.mutate()}
          >
            Create
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field
          label="Name"
          hint="Letters, digits, - and _."
          error={key.name && !NAME.test(key.name) ? "This cannot be its name" : make.error?.message}
        >
          {(wiring) => <Input {...wiring} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Title">
          {(wiring) => <Input {...wiring} value={title} onChange={(event) => setTitle(event.target.value)} />}
        </Field>
        <Field label="Description">
          {(wiring) => (
            <Textarea
              {...wiring}
              rows={2}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        {projects.length > 0 && (
          <Field label="Where" hint="In the hub's home, or in .manyhands/playgrounds of a project.">
            {(wiring) => (
              <Select
                {...wiring}
                value={where}
                onChange={setWhere}
                options={[
                  { value: GLOBAL, label: "Everywhere" },
                  ...projects.map((one) => ({ value: one.id, label: one.name, hint: one.dir_path })),
                ]}
              />
            )}
          </Field>
        )}
      </div>
    </Dialog>
  );
}
