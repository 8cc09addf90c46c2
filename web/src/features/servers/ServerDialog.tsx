import { useMutation, useQuery } from "@tanstack/react-query";
import { FlaskConical, Info } from "lucide-react";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Field } from "@/shared/ui/Field";
import { goToMistake } from "@/shared/ui/goToMistake";
import { Input } from "@/shared/ui/Input";
import { Tabs } from "@/shared/ui/Tabs";
import { toast } from "@/shared/ui/Toast";
import { bodyOf, type Draft, decisionsOf, draftOf, EMPTY, type Mistakes, mistakesIn } from "./draft";
import { SecretInput } from "./form/PairsField";
import { importBody, type Pasted, PasteJson, usePreview } from "./form/PasteJson";
import { ServerForm } from "./form/ServerForm";
import { TestResult } from "./form/TestResult";
import type { GalleryEntry } from "./gallery";
import { type Json, type Server, serverList } from "./queries";
import { Gallery } from "./ServerGallery";

type Way = "form" | "paste" | "gallery";

interface AddServerProps {
  onClose: () => void;
  /** One of the gallery, with what it asks. */
  entry?: GalleryEntry | null;
  way?: Way;
}

/** Adds a server: by a form, or with the JSON of another client. */
export function AddServerDialog({ open, ...rest }: AddServerProps & { open: boolean }) {
  return open ? <AddOne {...rest} /> : null;
}

function AddOne({ onClose, entry, way }: AddServerProps) {
  const [picked, setPicked] = useState(entry);
  if (picked) return <FormDialog key={picked.id} onClose={onClose} entry={picked} />;
  return <AddDialog onClose={onClose} way={way} onPick={setPicked} />;
}

/** Changes a server that is there. */
export function EditServerDialog({ server, onClose }: { server: Server; onClose: () => void }) {
  return <FormDialog server={server} onClose={onClose} />;
}

interface AddDialogProps {
  onClose: () => void;
  onPick: (entry: GalleryEntry) => void;
  way?: Way;
}

function AddDialog({ onClose, onPick, way = "form" }: AddDialogProps) {
  const [tab, setTab] = useState<Way>(way);
  const form = useServerForm({ onDone: onClose });
  const paste = usePaste(onClose);
  return (
    <Dialog
      open
      onClose={onClose}
      width="lg"
      title="Add a server"
      footer={
        tab === "form" ? (
          <FormButtons form={form} onClose={onClose} />
        ) : (
          tab === "paste" && <PasteButtons paste={paste} onClose={onClose} />
        )
      }
    >
      <Tabs
        label="How to add it"
        value={tab}
        onChange={setTab}
        tabs={[
          { value: "form", label: "Form", content: <FormParts form={form} /> },
          { value: "paste", label: "Paste JSON", content: <PasteJson {...paste} /> },
          { value: "gallery", label: "Well-known", content: <Gallery onPick={onPick} columns={2} /> },
        ]}
      />
    </Dialog>
  );
}

interface FormDialogProps {
  server?: Server;
  entry?: GalleryEntry;
  onClose: () => void;
}

function FormDialog({ server, entry, onClose }: FormDialogProps) {
  const form = useServerForm({ server, entry, onDone: onClose });
  return (
    <Dialog
      open
      onClose={onClose}
      width="lg"
      title={server ? `Edit ${server.name}` : `Add ${entry?.title ?? "a server"}`}
      description={
        server?.project
          ? `It is described by ${server.project}/.mcp.json; here you decide what it may do.`
          : entry?.about
      }
      footer={<FormButtons form={form} onClose={onClose} />}
    >
      <FormParts form={form} />
    </Dialog>
  );
}

interface FormStart {
  server?: Server;
  entry?: GalleryEntry;
  onDone: () => void;
}

function useServerForm({ server, entry, onDone }: FormStart) {
  const [draft, setDraft] = useState<Draft>(server ? draftOf(server) : (entry?.draft ?? EMPTY));
  const [answers, setAnswers] = useState<string[]>(entry?.asks.map(() => "") ?? []);
  const [tried, setTried] = useState(false);
  const decisionsOnly = Boolean(server?.project);
  const others = useQuery(serverList).data ?? [];
  const mistakes = mistakesIn(draft);
  if (!server && others.some((one) => !one.project && one.name === draft.name.trim()))
    mistakes.name = "There is a server of this name. Edit that one, or choose another name.";
  const unanswered = answers.some((answer) => !answer.trim());
  const isFine = Object.keys(mistakes).length === 0 && !unanswered;
  const test = useMutation({
    mutationFn: () =>
      read(api.POST("/api/servers/test", { body: { ...bodyOf(draft), id: server?.id } as never })),
  });
  const save = useMutation({
    mutationFn: () => send(server, decisionsOnly ? decisionsOf(draft) : bodyOf(draft)),
    onSuccess: (outcome) => {
      for (const note of outcome.notes ?? []) toast(note);
      toast(server ? `${draft.name} is saved` : `${draft.name} is added`);
      onDone();
    },
  });
  const answer = (place: number, value: string) => {
    setAnswers(answers.with(place, value));
    const ask = entry?.asks[place];
    if (ask) setDraft(ask.put(draft, value));
  };
  return {
    draft,
    setDraft: (next: Draft) => {
      test.reset();
      save.reset();
      setDraft(next);
    },
    entry,
    answers,
    answer,
    server,
    decisionsOnly,
    mistakes: tried ? mistakes : ({} as Mistakes),
    showUnanswered: tried,
    test,
    save,
    /** Runs it unless something is missing, which then shows, wherever one has scrolled to. */
    when: (run: () => void) => () => {
      setTried(true);
      if (isFine) run();
      else requestAnimationFrame(goToMistake);
    },
  };
}

/** Saved at once; how connecting goes shows where the server stands. */
function send(server: Server | undefined, body: Json) {
  const query = { wait: false };
  return server
    ? read(
        api.PUT("/api/servers/{server_id}", {
          params: { path: { server_id: server.id }, query },
          body: body as never,
        }),
      )
    : read(api.POST("/api/servers", { params: { query }, body: body as never }));
}

type Form = ReturnType<typeof useServerForm>;

function FormParts({ form }: { form: Form }) {
  return (
    <div className="flex flex-col gap-5">
      {form.entry?.asks.map((ask, place) => (
        <Field
          key={ask.label}
          label={ask.label}
          hint={ask.hint}
          error={form.showUnanswered && !form.answers[place]?.trim() ? "This is needed." : undefined}
        >
          {(wiring) =>
            ask.secret ? (
              <SecretInput
                {...wiring}
                value={form.answers[place] ?? ""}
                placeholder={ask.placeholder}
                onChange={(value) => form.answer(place, value)}
              />
            ) : (
              <Input
                {...wiring}
                autoFocus={place === 0}
                spellCheck={false}
                className="font-mono text-xs"
                placeholder={ask.placeholder}
                value={form.answers[place] ?? ""}
                onChange={(event) => form.answer(place, event.target.value)}
              />
            )
          }
        </Field>
      ))}
      {form.entry?.need === "sign-in" && (
        <p className="flex items-start gap-2 rounded-md bg-accent-soft px-3 py-2 text-sm text-accent-ink">
          <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
          Save it, then press Sign in: its own page opens in another tab.
        </p>
      )}
      <ServerForm
        draft={form.draft}
        onChange={form.setDraft}
        mistakes={form.mistakes}
        nameLocked={form.server !== undefined}
        decisionsOnly={form.decisionsOnly}
      />
      {form.test.isError && <ErrorState title="It could not be tried" error={form.test.error} />}
      {form.test.data && <TestResult report={form.test.data} />}
      {form.save.isError && <ErrorState title="It could not be saved" error={form.save.error} />}
    </div>
  );
}

function FormButtons({ form, onClose }: { form: Form; onClose: () => void }) {
  return (
    <>
      <Button
        className="mr-auto"
        icon={<FlaskConical />}
        busy={form.test.isPending}
        onClick={form.when(() => form.test.mutate())}
      >
        Test
      </Button>
      <Button onClick={onClose}>Cancel</Button>
      <Button tone="primary" busy={form.save.isPending} onClick={form.when(() => form.save.mutate())}>
        {form.server ? "Save & Reconnect" : "Add server"}
      </Button>
    </>
  );
}

function usePaste(onDone: () => void) {
  const [pasted, onChange] = useState<Pasted>({ text: "", name: "" });
  const preview = usePreview(pasted);
  const wanted = preview.data?.items.filter((item) => item.action !== "skipped").length ?? 0;
  const take = useMutation({
    mutationFn: () =>
      read(
        api.POST("/api/servers/import", {
          params: { query: { wait: false } },
          body: importBody(pasted, false),
        }),
      ),
    onSuccess: ({ items }) => {
      const taken = items.filter((item) => item.action !== "skipped").length;
      toast(`${taken} ${taken === 1 ? "server is" : "servers are"} added`);
      onDone();
    },
    onError: toast.error,
  });
  const isReady = wanted > 0 && preview.isCurrent && !preview.isError && !preview.isFetching;
  return { pasted, onChange, preview, wanted, take, isReady };
}

function PasteButtons({ paste, onClose }: { paste: ReturnType<typeof usePaste>; onClose: () => void }) {
  return (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        tone="primary"
        disabled={!paste.isReady}
        busy={paste.take.isPending}
        onClick={() => paste.take.mutate()}
      >
        {paste.wanted > 1 ? `Add ${paste.wanted} servers` : "Add server"}
      </Button>
    </>
  );
}
