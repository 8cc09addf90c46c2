import { describe, expect, test } from "vitest";
import { ApiError } from "@/shared/api/client";
import { draftOf, emptyDraft, fieldErrors, fieldsOf, missing } from "./draft";
import type { Model, Provider } from "./queries";
import { priceWords, providerState } from "./words";

const model: Model = {
  id: "model_1",
  name: "Mine",
  provider: "anthropic",
  model: "claude",
  base_url: null,
  has_key: true,
  tool_call: 1,
  context: 200_000,
  modalities: ["text", "image"],
  price: { input: 3, output: 15, cached_input: 0.3 },
  default: true,
  source: "saved",
  fallbacks: ["Other"],
};
const provider: Provider = {
  id: "openai",
  name: "OpenAI",
  provider: "openai",
  base_url: null,
  key_variables: ["OPENAI_API_KEY"],
  ready: false,
  models: ["gpt-a", "gpt-b"],
};

describe("a model in the form", () => {
  test("is sent back as it was when nothing was changed, without its key", () => {
    expect(fieldsOf(draftOf(model), model)).toEqual({
      name: "Mine",
      model: "claude",
      base_url: null,
      tool_call: true,
      context: 200_000,
      modalities: ["text", "image"],
      price: { input: 3, output: 15, cached_input: 0.3 },
      fallbacks: ["Other"],
    });
  });
  test("a key goes in when one was written, and is taken away when that was asked for", () => {
    expect(fieldsOf({ ...draftOf(model), apiKey: " sk-1 " }, model)).toMatchObject({ api_key: "sk-1" });
    expect(fieldsOf({ ...draftOf(model), forgetKey: true }, model)).toMatchObject({ api_key: null });
  });
  test("a new one leaves to the hub what was not written", () => {
    expect(fieldsOf({ ...emptyDraft("openai"), model: "gpt-a" })).toEqual({
      provider: "openai",
      model: "gpt-a",
      base_url: null,
      tool_call: true,
      fallbacks: [],
    });
  });
  test("one of a provider begins with its first model; a local server with its address", () => {
    expect(emptyDraft("openai", provider)).toMatchObject({ provider: "openai", model: "gpt-a" });
    const local = { ...provider, id: "vllm", provider: "openai-compatible" as const, key_variables: [] };
    expect(emptyDraft("openai", { ...local, base_url: "http://127.0.0.1:8000" }).baseUrl).toBe(
      "http://127.0.0.1:8000/v1",
    );
  });
  test("what is missing is told at its field", () => {
    expect(Object.keys(missing(emptyDraft("openai-compatible")))).toEqual(["model", "base_url"]);
  });
  test("a number that is none goes to the hub, which refuses it", () => {
    expect(fieldsOf({ ...draftOf(model), context: "plenty" }, model).context).toBe("plenty");
  });
});

test("the hub's words stand at the field that they name", () => {
  const refused = new ApiError("base_url: this is no address.", 422, "invalid", null);
  expect(fieldErrors(refused)).toEqual({ base_url: "This is no address." });
  const nested = new ApiError("price.input: Input should be a valid number.", 422, "invalid", null);
  expect(fieldErrors(nested)).toEqual({ price: "Input should be a valid number." });
  expect(fieldErrors(new ApiError("The hub is busy.", 503, "x", "Wait."))).toEqual({
    "": "The hub is busy. Wait.",
  });
});

describe("a provider", () => {
  test("without a key says what it needs", () => {
    expect(providerState(provider, []).detail).toContain("set OPENAI_API_KEY");
  });
  test("whose key is in the environment says so", () => {
    expect(providerState({ ...provider, ready: true }, [])).toMatchObject({
      word: "Key found",
      mood: "good",
    });
  });
  test("that runs on this machine says where", () => {
    const ollama = {
      ...provider,
      key_variables: [],
      base_url: "http://127.0.0.1:11434",
      provider: "ollama" as const,
    };
    expect(providerState({ ...ollama, ready: true }, []).detail).toContain("127.0.0.1:11434 with 2 models");
    expect(providerState(ollama, []).word).toBe("Not running");
  });
  test("with a saved model is set up", () => {
    expect(providerState({ ...provider, provider: "anthropic" }, [model]).word).toBe("Set up");
  });
});

test("prices are read at a glance", () => {
  expect(priceWords(model.price)).toBe("$3 in, $15 out");
  expect(priceWords(null)).toBe("Price unknown");
  expect(priceWords({ input: 0, output: 0, cached_input: null })).toBe("Free");
});
