import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "@/shared/api/client";
import { Button } from "@/shared/ui/Button";
import { Dialog } from "@/shared/ui/Dialog";
import { useGoToMistake } from "@/shared/ui/goToMistake";
import { type Draft, draftOf, emptyDraft, type FieldErrors, fieldErrors, fieldsOf, missing } from "./draft";
import { ModelForm } from "./ModelForm";
import { type Model, modelsKey, type Provider, providerList } from "./queries";
import { providerName } from "./words";

interface ModelDialogProps {
  onClose: () => void;
  /** The model that is changed; without one, a new one is added. */
  model?: Model;
  /** Whose model is to be added. */
  from?: Provider;
  onSaved?: (model: Model) => void;
}

/** Adds a model, or changes one; a key goes in and is never shown again. */
export function ModelDialog(props: ModelDialogProps) {
  const providers = useQuery(providerList);
  if (providers.isPending) return null;
  const known = providers.data ?? [];
  const first = known.find((one) => one.provider === "openai");
  return <Opened {...props} from={props.from ?? first} providers={known} />;
}

function Opened({ onClose, model, from, onSaved, providers }: ModelDialogProps & { providers: Provider[] }) {
  const [draft, setDraft] = useState<Draft>(() => (model ? draftOf(model) : emptyDraft("openai", from)));
  const [errors, setErrors] = useState<FieldErrors>({});
  const save = useSave(model, setErrors, (saved) => {
    onSaved?.(saved);
    onClose();
  });
  useGoToMistake(errors);
  const submit = () => {
    const lacking = missing(draft);
    setErrors(lacking);
    if (Object.keys(lacking).length === 0) save.mutate(draft);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={model ? `Edit ${model.name}` : "Add a model"}
      description={
        model
          ? providerName(model.provider)
          : "Whose model it is, its name and its key. The rest is found out."
      }
      footer={
        <>
          {errors[""] && (
            <p
              role="alert"
              className="min-w-0 flex-1 basis-40 self-center text-sm text-bad-ink [overflow-wrap:anywhere]"
            >
              {errors[""]}
            </p>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="model" busy={save.isPending}>
            Save and test
          </Button>
        </>
      }
    >
      <form
        id="model"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <ModelForm
          draft={draft}
          errors={errors}
          old={model}
          providers={providers}
          onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
        />
      </form>
    </Dialog>
  );
}

function useSave(
  old: Model | undefined,
  onErrors: (errors: FieldErrors) => void,
  onDone: (model: Model) => void,
) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (draft: Draft) => {
      const body = fieldsOf(draft, old);
      return old
        ? read(api.PATCH("/api/models/{model_id}", { params: { path: { model_id: old.id } }, body }))
        : read(api.POST("/api/models", { body: body as { provider: Model["provider"]; model: string } }));
    },
    onSuccess: async (saved) => {
      await cache.invalidateQueries({ queryKey: modelsKey });
      onDone(saved);
    },
    onError: (error) => onErrors(fieldErrors(error)),
  });
}
