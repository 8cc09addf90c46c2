/** What the map of files is drawn from, and what it says of each. */
import { type Folder, harmOf } from "./fileTree";
import { stepOf } from "./harm";
import type { MeasuredFile } from "./queries";
import { count } from "./words";

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** An area of the map. */
export interface Node {
  name: string;
  value: number;
  path: string;
  isFile: boolean;
  said: string;
  children?: Node[];
  itemStyle?: { color: string; borderWidth: number; borderRadius: number };
  label?: { show: boolean };
}

const ofFile = (file: MeasuredFile, shades: readonly string[], named: number): Node => ({
  name: file.path.slice(file.path.lastIndexOf("/") + 1),
  value: file.loc,
  path: file.path,
  isFile: true,
  said: [
    file.path,
    `${count(file.loc, "line")}, ${count(file.functions, "function")}, harm ${percent(file.harm)}`,
    ...(file.duplicated ? [`${count(file.duplicated, "line")} in copies`] : []),
    ...(file.unused ? [`${count(file.unused, "unused function")}`] : []),
    ...(file.in_cycle ? ["in an import cycle"] : []),
    ...(file.syntax_errors ? [count(file.syntax_errors, "syntax error")] : []),
  ].join("\n"),
  itemStyle: { color: shades[stepOf(file.harm)] ?? "", borderWidth: 0, borderRadius: 2 },
  label: { show: file.loc >= named },
});

const ofFolder = (folder: Folder, shades: readonly string[], named: number): Node => ({
  name: folder.name,
  value: folder.loc,
  path: folder.path,
  isFile: false,
  said: `${folder.path}/\n${count(folder.loc, "line")}, harm ${percent(harmOf(folder))}`,
  children: nodesIn(folder, shades, named),
});

/** `named`: how many lines a file has at least to be called by its name; smaller ones have no room for it. */
export const nodesIn = (folder: Folder, shades: readonly string[], named: number): Node[] => [
  ...folder.folders.map((one) => ofFolder(one, shades, named)),
  ...folder.files.map((file) => ofFile(file, shades, named)),
];

/** What is told of an area under the pointer. */
export const saidOf = (data: unknown): string => (data as Partial<Node> | undefined)?.said ?? "";
