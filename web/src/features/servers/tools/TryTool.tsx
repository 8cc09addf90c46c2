import { useMutation, useQuery } from "@tanstack/react-query";
import { Play, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ApprovalCard } from "@/features/approvals/ApprovalCard";
import { pendingApprovals } from "@/features/approvals/queries";
import { channelList } from "@/features/chat/queries";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { useGoToMistake } from "@/shared/ui/goToMistake";
import { Select } from "@/shared/ui/Select";
import { Spinner } from "@/shared/ui/Spinner";
import { Tabs } from "@/shared/ui/Tabs";
import { JsonInput, SchemaForm } from "../form/SchemaForm";
import { missingIn, startOf } from "../form/schema";
import type { Json, Tool } from "../queries";
import { CallResult } from "./CallResult";

const NOWHERE = "-";

/** Calls a tool for real: arguments by a form or as JSON, and what came back. */
export default function TryTool({ tool, onClose }: { tool: Tool; onClose: () => void }) {
  const schema = tool.inputSchema;
  const [value, setValue] = useState<unknown>(() => startOf(schema, schema) ?? {});
  const [mode, setMode] = useState<"form" | "json">("form");
  const [missing, setMissing] = useState<string[]>([]);
  useGoToMistake(missing);
  const [channel, setChannel] = useState(NOWHERE);
  const call = useToolCall(tool);
  const result = useInView(call.status);
  const run = () => {
    const lacking = missingIn(value, schema, schema);
    setMissing(lacking);
    if (mode === "json" || lacking.length === 0)
      call.mutate({ args: (value ?? {}) as Json, channel: channel === NOWHERE ? undefined : channel });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      width="xl"
      title={
        <>
          Try <code>{tool.name}</code>
        </>
      }
      description={
        tool.diff
          ? "It runs for real, once you have seen how its definition changed."
          : "It runs for real, at once: your own call is its own approval."
      }
      footer={<Buttons tool={tool} call={call} onRun={run} />}
    >
      <div className="grid gap-x-8 gap-y-6 md:grid-cols-2">
        <form
          className="flex min-w-0 flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            run();
          }}
        >
          <Tabs
            label="How to write the arguments"
            value={mode}
            onChange={setMode}
            tabs={[
              {
                value: "form",
                label: "Form",
                content: <SchemaForm schema={schema} value={value} onChange={setValue} missing={missing} />,
              },
              {
                value: "json",
                label: "JSON",
                content: (
                  <Field label="Arguments" hint="An object, as the model would write it.">
                    {(wiring) => (
                      <JsonInput
                        wiring={wiring}
                        rows={10}
                        value={value}
                        onChange={(next) => setValue(next ?? {})}
                      />
                    )}
                  </Field>
                ),
              },
            ]}
          />
          <ChannelChoice value={channel} onChange={setChannel} />
          {/* Enter in a field runs it, too. */}
          <button type="submit" hidden aria-hidden tabIndex={-1} />
        </form>
        <section ref={result} aria-label="Result" aria-live="polite" className="min-w-0">
          <h3 className="mb-2 text-sm font-medium">Result</h3>
          <Outcome tool={tool} call={call} />
        </section>
      </div>
    </Dialog>
  );
}

/** On a narrow screen it stands below the form: brought into view whenever there is something new in it. */
function useInView(state: string) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (state !== "idle") place.current?.scrollIntoView?.({ block: "nearest" });
  }, [state]);
  return place;
}

interface Wish {
  args: Json;
  channel?: string;
}

/** Hanging up cancels the call: by the button, and by closing the window. */
function useToolCall(tool: Tool) {
  const line = useRef<AbortController | null>(null);
  useEffect(() => () => line.current?.abort(), []);
  const call = useMutation({
    mutationFn: ({ args, channel }: Wish) => {
      line.current = new AbortController();
      return read(
        api.POST("/api/tools/call", {
          body: { name: tool.fullName, arguments: args, channel_id: channel },
          signal: line.current.signal,
        }),
      );
    },
  });
  return { ...call, stop: () => line.current?.abort() };
}

type ToolCall = ReturnType<typeof useToolCall>;

function Buttons({ tool, call, onRun }: { tool: Tool; call: ToolCall; onRun: () => void }) {
  if (call.isPending)
    return (
      <Button icon={<Square />} onClick={call.stop}>
        Stop
      </Button>
    );
  return (
    <Button tone={tool.saysDestructive ? "danger" : "primary"} icon={<Play />} onClick={onRun}>
      Run
    </Button>
  );
}

/** What is asked before the call goes on: about its changed definition, or by its server. */
function useAsked(tool: Tool) {
  const pending = useQuery(pendingApprovals).data ?? [];
  return pending.filter(
    ({ run_id, detail }) =>
      run_id === null &&
      (detail.full_name === tool.fullName ||
        (detail.server === tool.serverName && detail.tool === tool.name)),
  );
}

function Outcome({ tool, call }: { tool: Tool; call: ToolCall }) {
  const asked = useAsked(tool);
  if (call.isPending)
    return (
      <div className="flex flex-col gap-3 text-sm text-ink-soft">
        <Spinner label="It runs" />
        {asked.map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} inChat />
        ))}
      </div>
    );
  if (call.error?.name === "AbortError")
    return <p className="text-sm text-ink-soft">Stopped. The server was told.</p>;
  if (call.isError) return <ErrorState error={call.error} />;
  if (call.data) return <CallResult call={call.data} />;
  return <p className="text-sm text-ink-soft">Fill in the arguments and run it.</p>;
}

/** Where it works: tools that read and write files need a directory. */
function ChannelChoice({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const channels = useQuery(channelList).data?.filter((channel) => channel.dir_path) ?? [];
  if (channels.length === 0) return null;
  return (
    <Field label="In" hint="The directory that it works in.">
      {(wiring) => (
        <Select
          {...wiring}
          value={value}
          onChange={onChange}
          options={[
            { value: NOWHERE, label: "No directory" },
            ...channels.map((channel) => ({
              value: channel.id,
              label: channel.name ?? channel.dir_path ?? channel.id,
              hint: channel.dir_path,
            })),
          ]}
        />
      )}
    </Field>
  );
}
