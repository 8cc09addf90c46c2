/** A model while it is being written: every field a text, as it stands in the form. */
import { ApiError } from "@/shared/api/client";
import type { Model, Provider } from "./queries";
import type { ProviderId } from "./words";

export interface Draft {
  provider: ProviderId;
  model: string;
  name: string;
  apiKey: string;
  /** The key that is kept is to be forgotten. */
  forgetKey: boolean;
  baseUrl: string;
  toolCall: boolean;
  context: string;
  modalities: string[];
  priceIn: string;
  priceOut: string;
  priceCached: string;
  fallbacks: string[];
}

export const emptyDraft = (provider: ProviderId = "openai", from?: Provider): Draft => ({
  provider: from?.provider ?? provider,
  model: from?.models[0] ?? "",
  name: "",
  apiKey: "",
  forgetKey: false,
  baseUrl: addressOf(from),
  toolCall: true,
  context: "",
  modalities: [],
  priceIn: "",
  priceOut: "",
  priceCached: "",
  fallbacks: [],
});

/** Servers on this machine speak OpenAI's API under /v1. */
function addressOf(from?: Provider): string {
  if (from?.provider !== "openai-compatible" || !from.base_url) return "";
  return from.key_variables.length > 0 ? from.base_url : `${from.base_url.replace(/\/(v1)?$/, "")}/v1`;
}

export const draftOf = (model: Model): Draft => ({
  provider: model.provider,
  model: model.model,
  name: model.name,
  apiKey: "",
  forgetKey: false,
  baseUrl: model.base_url ?? "",
  toolCall: model.tool_call === 1,
  context: String(model.context),
  modalities: [...model.modalities],
  priceIn: text(model.price?.input),
  priceOut: text(model.price?.output),
  priceCached: text(model.price?.cached_input),
  fallbacks: [...model.fallbacks],
});

const text = (value: number | null | undefined): string => (value == null ? "" : String(value));

/** What is sent. What is empty is left out of a new model: the hub finds it out. */
export function fieldsOf(draft: Draft, old?: Model): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    model: draft.model.trim(),
    base_url: draft.baseUrl.trim() || null,
    tool_call: draft.toolCall,
    fallbacks: draft.fallbacks,
  };
  if (!old) fields.provider = draft.provider;
  if (draft.name.trim()) fields.name = draft.name.trim();
  if (draft.apiKey.trim()) fields.api_key = draft.apiKey.trim();
  else if (draft.forgetKey) fields.api_key = null;
  if (draft.context.trim()) fields.context = asNumber(draft.context);
  if (draft.modalities.length > 0) fields.modalities = draft.modalities;
  const price = priceOf(draft);
  if (price !== null || old?.price) fields.price = price;
  return fields;
}

function priceOf(draft: Draft): Record<string, unknown> | null {
  if (!draft.priceIn.trim() && !draft.priceOut.trim()) return null;
  const price: Record<string, unknown> = {
    input: asNumber(draft.priceIn || "0"),
    output: asNumber(draft.priceOut || "0"),
  };
  if (draft.priceCached.trim()) price.cached_input = asNumber(draft.priceCached);
  return price;
}

/** What is no number goes as it is: the hub says so. */
function asNumber(written: string): number | string {
  const number = Number(written.trim().replaceAll(/[\s_,]/g, ""));
  return Number.isFinite(number) ? number : written;
}

export type FieldErrors = Partial<Record<string, string>>;

/** What is missing before it is worth asking. */
export function missing(draft: Draft): FieldErrors {
  const errors: FieldErrors = {};
  if (!draft.model.trim()) errors.model = "Which model? Write the provider's name for it.";
  if (draft.provider === "openai-compatible" && !draft.baseUrl.trim())
    errors.base_url = "Its address is needed, such as http://127.0.0.1:8000/v1.";
  return errors;
}

/** The hub names the field in front of what is wrong with it: "base_url: this is no address". */
export function fieldErrors(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return { "": error instanceof Error ? error.message : String(error) };
  const found = /^(\w+)[\w.]*: (.*)$/s.exec(error.message);
  const said = [found?.[2] ?? error.message, error.hint].filter(Boolean).join(" ");
  return { [found?.[1] ?? ""]: said.charAt(0).toUpperCase() + said.slice(1) };
}
