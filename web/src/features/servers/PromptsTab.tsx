import { useMutation } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { Badge } from "@/shared/ui/Badge";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { VisibleText } from "@/shared/ui/VisibleText";
import type { Prompt } from "./queries";
import { ContentBlock } from "./tools/CallResult";

/** The prompts of a server; each can be filled in to see what it says. */
export function PromptsTab({ serverId, prompts }: { serverId: number; prompts: readonly Prompt[] }) {
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-soft">In a conversation, type the command to use one.</p>
      {prompts.map((prompt) => (
        <PromptCard key={prompt.name} serverId={serverId} prompt={prompt} />
      ))}
    </div>
  );
}

interface Filled {
  messages?: { role?: string; content?: Record<string, unknown> }[];
}

function PromptCard({ serverId, prompt }: { serverId: number; prompt: Prompt }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const fill = useMutation({
    mutationFn: async () =>
      (await read(
        api.POST("/api/servers/{server_id}/prompts/get", {
          params: { path: { server_id: serverId } },
          body: { name: prompt.name, arguments: values },
        }),
      )) as Filled,
  });
  const lacking = prompt.arguments?.some((one) => one.required && !values[one.name]);
  return (
    <Card
      title={<VisibleText text={prompt.title ?? prompt.name} />}
      description={prompt.description && <VisibleText text={prompt.description} />}
      actions={<code className="text-xs text-ink-soft [overflow-wrap:anywhere]">{prompt.command}</code>}
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          fill.mutate();
        }}
      >
        <div className="grid gap-3 sm:grid-cols-2">
          {prompt.arguments?.map((one) => (
            <Field
              key={one.name}
              label={one.title ?? one.name}
              hint={one.description}
              aside={one.required ? "required" : "optional"}
            >
              {(wiring) => (
                <Input
                  {...wiring}
                  value={values[one.name] ?? ""}
                  onChange={(event) => setValues({ ...values, [one.name]: event.target.value })}
                />
              )}
            </Field>
          ))}
        </div>
        <Button
          type="submit"
          size="sm"
          icon={<FileText />}
          className="self-start"
          disabled={lacking}
          busy={fill.isPending}
        >
          Show it filled in
        </Button>
      </form>
      {fill.isError && <ErrorState error={fill.error} />}
      {fill.data?.messages?.map((message, place) => (
        <div key={place} className="mt-3 flex flex-col gap-1.5">
          <Badge className="self-start">{message.role ?? "message"}</Badge>
          <ContentBlock block={message.content ?? {}} />
        </div>
      ))}
    </Card>
  );
}
