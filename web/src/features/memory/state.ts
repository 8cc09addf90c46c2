/** The state of an index in a person's words. */
import type { Schemas } from "@/shared/api/client";
import type { Collection, Whose } from "./queries";

export const isBusy = (one: Collection): boolean => one.state !== "idle";

/** Without a channel all collections are told: then only the global one is meant. */
export const shownOf = (collections: readonly Collection[], whose: Whose): Collection[] =>
  whose === null ? collections.filter((one) => one.scope === "global") : [...collections];

export const SCOPES: Record<Collection["scope"], string> = {
  project: "This project",
  channel: "This channel",
  global: "Global memory",
};

export const PHASES: Record<Collection["state"], string> = {
  idle: "Up to date",
  looking: "Looking for files",
  reading: "Reading files",
  embedding: "Making vectors",
};

export function embedderWords(name: string): [title: string, about: string] {
  const [kind, model] = name.split(/:(.*)/s);
  switch (kind) {
    case "static":
      return ["Built in", "Vectors come from a small model that needs no network and no setup."];
    case "none":
      return ["Switched off", "Search goes by words alone. A setting chooses who makes vectors."];
    case "ollama":
      return [
        `${model} of Ollama`,
        "Vectors come from your Ollama. With another model all of them are made anew.",
      ];
    default:
      return [
        `${model ?? name}`,
        "Vectors come from an embeddings endpoint. With another model all of them are made anew.",
      ];
  }
}

/** What indexing did, in a line. */
export function told({ files, embedded, problems }: Schemas["IndexDone"]): string {
  const parts = [
    files.added > 0 && `${files.added.toLocaleString()} new`,
    files.changed > 0 && `${files.changed.toLocaleString()} changed`,
    files.removed > 0 && `${files.removed.toLocaleString()} gone`,
  ].filter(Boolean);
  const read = parts.length > 0 ? `Files: ${parts.join(", ")}` : "Nothing has changed";
  const more = [
    embedded > 0 && `${embedded.toLocaleString()} vectors made`,
    problems.length > 0 && `${problems.length.toLocaleString()} with problems`,
  ].filter(Boolean);
  return [read, ...more].join("; ");
}
