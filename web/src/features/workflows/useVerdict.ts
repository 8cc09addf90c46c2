import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useSettled } from "@/features/tasks/usePreview";
import { type GraphNode, readGraph } from "./graph";
import { type Problem, verdictOf } from "./queries";

const PAUSE = 300;
const NONE: readonly Problem[] = [];

export interface Judged {
  ok: boolean;
  mood: "good" | "bad" | "unknown";
  /** "No mistakes", "2 mistakes, 1 warning" */
  words: string;
  problems: readonly Problem[];
  /** Of the last text that could be read. */
  graph: GraphNode[];
  /** The line of each node, by its place in the definition. */
  lines: Readonly<Record<string, number>>;
  name: string | null;
  description: string;
  inputs: Record<string, unknown>;
}

/** What the hub says about a text while it is typed. */
export function useVerdict(text: string, channel: string | null): Judged {
  const settled = useSettled(text, PAUSE);
  const found = useQuery({ ...verdictOf(settled, channel), placeholderData: keepPreviousData });
  const workflow = found.data?.workflow;
  const graph = useLastGraph(workflow);
  const current = settled === text && !found.isPlaceholderData && found.data !== undefined;
  const said = (name: string) => (typeof workflow?.[name] === "string" ? (workflow[name] as string) : null);
  const problems = found.data?.problems ?? NONE;
  return {
    ok: current && found.data?.ok === true,
    mood: !current ? "unknown" : found.data?.ok ? "good" : "bad",
    words: found.isError ? "It could not be checked." : current ? wordsOf(problems) : "Checking…",
    problems,
    graph,
    lines: found.data?.lines ?? {},
    name: said("name"),
    description: said("description") ?? "",
    inputs: (workflow?.inputs ?? {}) as Record<string, unknown>,
  };
}

/** The graph does not vanish while a line is half typed, nor move when nothing of it changed. */
function useLastGraph(workflow: Record<string, unknown> | null | undefined): GraphNode[] {
  const last = useRef<{ key: string; graph: GraphNode[] }>({ key: "", graph: [] });
  return useMemo(() => {
    const graph = readGraph(workflow);
    const key = JSON.stringify(graph);
    if (graph.length > 0 && key !== last.current.key) last.current = { key, graph };
    return last.current.graph;
  }, [workflow]);
}

export function wordsOf(problems: readonly Problem[]): string {
  const errors = problems.filter((one) => one.severity === "error").length;
  const warnings = problems.length - errors;
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  if (problems.length === 0) return "No mistakes";
  return [errors && count(errors, "mistake"), warnings && count(warnings, "warning")]
    .filter(Boolean)
    .join(", ");
}
