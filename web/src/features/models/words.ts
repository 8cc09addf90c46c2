/** Models and providers in a person's words. */
import type { Schemas } from "@/shared/api/client";
import type { Mood } from "@/shared/ui/Badge";
import type { Model, Provider } from "./queries";

export type ProviderId = Schemas["Model"]["provider"];

export const PROVIDERS: readonly { value: Exclude<ProviderId, "demo">; label: string; hint: string }[] = [
  { value: "openai", label: "OpenAI", hint: "Needs a key from platform.openai.com" },
  { value: "anthropic", label: "Anthropic", hint: "Needs a key from console.anthropic.com" },
  { value: "google", label: "Google Gemini", hint: "Needs a key from aistudio.google.com" },
  { value: "ollama", label: "Ollama", hint: "Runs on this machine, no key" },
  {
    value: "openai-compatible",
    label: "OpenAI-compatible",
    hint: "OpenRouter, vLLM, LM Studio, llama.cpp, a company's own",
  },
];

export const providerName = (id: ProviderId): string =>
  PROVIDERS.find((one) => one.value === id)?.label ?? (id === "demo" ? "Demo" : id);

/** Where a model comes from, when nobody saved it. */
export const SOURCES: Record<string, { word: string; mood: Mood; why: string }> = {
  environment: {
    word: "Key in the environment",
    mood: "good",
    why: "A key for it was found in the environment.",
  },
  local: { word: "On this machine", mood: "good", why: "Its server was found on this machine." },
  "built-in": {
    word: "Built in",
    mood: "neutral",
    why: "It needs nothing, and only matches words to tools.",
  },
};

export const MODALITIES = [
  { value: "text", label: "Text" },
  { value: "image", label: "Pictures" },
  { value: "pdf", label: "PDF" },
  { value: "audio", label: "Sound" },
] as const;

/** "$3 in, $15 out for a million tokens" */
export function priceWords(price: Model["price"]): string {
  if (!price) return "Price unknown";
  if (price.input === 0 && price.output === 0) return "Free";
  return `$${price.input} in, $${price.output} out`;
}

/** How a provider stands: what was found, or what it needs. */
export function providerState(
  provider: Provider,
  models: readonly Model[],
): { word: string; mood: Mood; detail: string } {
  const saved = models.filter((model) => model.source === "saved" && belongs(model, provider)).length;
  const kept = saved === 0 ? "" : `${saved} saved ${saved === 1 ? "model" : "models"}`;
  const isLocal = provider.key_variables.length === 0;
  if (provider.id === "demo")
    return { word: "Built in", mood: "neutral", detail: "Works without a key. For trying things out." };
  if (provider.ready && isLocal)
    return {
      word: "Running",
      mood: "good",
      detail: `Found at ${provider.base_url} with ${count(provider.models.length)}.`,
    };
  if (provider.ready)
    return {
      word: "Key found",
      mood: "good",
      detail: `A key is in the environment (${provider.key_variables.join(" or ")}).`,
    };
  if (isLocal) {
    const silent = `Nothing answers at ${provider.base_url}.`;
    return { word: "Not running", mood: "neutral", detail: kept ? `${kept}. ${silent}` : silent };
  }
  if (saved > 0) return { word: "Set up", mood: "good", detail: `${kept}, with a key of your own.` };
  return {
    word: "No key",
    mood: "neutral",
    detail: `Add a key here, or set ${provider.key_variables.join(" or ")} and restart the hub.`,
  };
}

const count = (models: number): string => `${models} ${models === 1 ? "model" : "models"}`;

/** Several services speak OpenAI's API: their address tells them apart. */
function belongs(model: Model, provider: Provider): boolean {
  if (model.provider !== provider.provider) return false;
  if (model.provider !== "openai-compatible") return true;
  return provider.base_url != null && (model.base_url ?? "").startsWith(provider.base_url);
}
