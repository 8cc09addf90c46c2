import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, read } from "@/shared/api/client";
import { formatBytes } from "@/shared/format/format";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { SearchInput } from "@/shared/ui/SearchInput";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { Resource, ResourceTemplate, Skill } from "./queries";
import { ResourceContent } from "./tools/CallResult";

const MANY = 12;
const MOST = 200;

interface ResourcesProps {
  serverId: number;
  resources: readonly Resource[];
  templates: readonly ResourceTemplate[];
}

/** The resources of a server, and the templates of more; each can be read. */
export function ResourcesTab({ serverId, resources, templates }: ResourcesProps) {
  const [wanted, setWanted] = useState("");
  const shown = resources.filter((one) =>
    `${one.uri} ${one.name} ${one.title}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <div className="flex flex-col gap-4">
      {templates.length > 0 && (
        <Card title="Templates" description="Addresses with gaps: fill them in and read.">
          <ul className="flex flex-col divide-y divide-line">
            {templates.map((template) => (
              <Template key={template.uriTemplate} serverId={serverId} template={template} />
            ))}
          </ul>
        </Card>
      )}
      {resources.length > MANY && (
        <SearchInput label="Search resources" value={wanted} onChange={setWanted} className="max-w-sm" />
      )}
      {shown.length > 0 && (
        <Card flush className="overflow-hidden">
          <ul aria-label="Resources" className="-mt-1 divide-y divide-line">
            {shown.slice(0, MOST).map((resource) => (
              <Entry
                key={resource.uri}
                serverId={serverId}
                uri={resource.uri}
                title={resource.title ?? resource.name}
                description={resource.description}
                mark={[resource.mimeType, resource.size != null && formatBytes(resource.size)]
                  .filter(Boolean)
                  .join(", ")}
              />
            ))}
          </ul>
          {shown.length > MOST && (
            <p className="px-4 py-2 text-xs text-ink-faint">
              {shown.length - MOST} more: search for what you want.
            </p>
          )}
        </Card>
      )}
    </div>
  );
}

/** Skills are read like resources. */
export function SkillsTab({ serverId, skills }: { serverId: number; skills: readonly Skill[] }) {
  return (
    <Card flush className="overflow-hidden">
      <ul aria-label="Skills" className="-mt-1 divide-y divide-line">
        {skills.map((skill, place) => (
          <Entry
            key={skill.uri ?? place}
            serverId={serverId}
            uri={skill.uri}
            title={skill.title ?? skill.name}
            description={skill.description}
          />
        ))}
      </ul>
    </Card>
  );
}

interface EntryProps {
  serverId: number;
  uri?: string;
  title?: string;
  description?: string;
  mark?: string;
}

function Entry({ serverId, uri, title, description, mark }: EntryProps) {
  const [open, setOpen] = useState(false);
  return (
    <li className="flex items-start gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className="flex flex-wrap items-center gap-x-2 text-sm font-medium">
          <VisibleText text={title ?? uri ?? ""} />
          {mark && <Badge>{mark}</Badge>}
        </p>
        {uri && (
          <p className="font-mono text-xs text-ink-faint">
            <VisibleText text={uri} />
          </p>
        )}
        {description && (
          <p className="text-xs text-ink-soft">
            <VisibleText text={description} />
          </p>
        )}
      </div>
      {uri && (
        <Button size="sm" aria-label={`Read ${title ?? uri}`} onClick={() => setOpen(true)}>
          Read
        </Button>
      )}
      {open && uri && <Reading serverId={serverId} uri={uri} onClose={() => setOpen(false)} />}
    </li>
  );
}

function Template({ serverId, template }: { serverId: number; template: ResourceTemplate }) {
  const gaps = [...template.uriTemplate.matchAll(/\{[+#./;?&]?([^}]+)\}/g)].map((match) => match[1] ?? "");
  const [values, setValues] = useState<Record<string, string>>({});
  const [open, setOpen] = useState(false);
  const uri = template.uriTemplate.replace(/\{[+#./;?&]?([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ""),
  );
  return (
    <li className="flex flex-col gap-2 py-3 first:pt-0 last:pb-0">
      <div className="[overflow-wrap:anywhere]">
        <p className="text-sm font-medium">
          <VisibleText text={template.title ?? template.name ?? template.uriTemplate} />
        </p>
        <p className="font-mono text-xs text-ink-faint">{template.uriTemplate}</p>
        {template.description && (
          <p className="text-xs text-ink-soft">
            <VisibleText text={template.description} />
          </p>
        )}
      </div>
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          setOpen(true);
        }}
      >
        {gaps.map((gap) => (
          <Field key={gap} label={gap} className="w-48">
            {(wiring) => (
              <Input
                {...wiring}
                value={values[gap] ?? ""}
                onChange={(event) => setValues({ ...values, [gap]: event.target.value })}
              />
            )}
          </Field>
        ))}
        <Button type="submit" disabled={gaps.some((gap) => !values[gap])}>
          Read
        </Button>
      </form>
      {open && <Reading serverId={serverId} uri={uri} onClose={() => setOpen(false)} />}
    </li>
  );
}

interface ReadingProps {
  serverId: number;
  uri: string;
  onClose: () => void;
}

function Reading({ serverId, uri, onClose }: ReadingProps) {
  const reading = useMutation({
    mutationFn: async () =>
      (await read(
        api.POST("/api/servers/{server_id}/resources/read", {
          params: { path: { server_id: serverId } },
          body: { uri },
        }),
      )) as { contents?: Record<string, unknown>[] },
  });
  const begin = reading.mutate;
  useEffect(() => {
    begin();
  }, [begin]);
  return (
    <Dialog open onClose={onClose} width="lg" title="Resource" description={<code>{uri}</code>}>
      {reading.isPending && <p className="text-sm text-ink-soft">Reading…</p>}
      {reading.isError && <ErrorState error={reading.error} onRetry={() => begin()} />}
      <div className="flex flex-col gap-4">
        {reading.data?.contents?.map((content, place) => (
          <ResourceContent key={place} resource={content} />
        ))}
      </div>
    </Dialog>
  );
}
