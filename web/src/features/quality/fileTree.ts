/** The files of a project as a tree of folders, for a map of them. */
import type { MeasuredFile } from "./queries";

export interface Folder {
  /** Its path; the root's is empty. */
  path: string;
  /** As it is shown: several folders that hold nothing else are one. */
  name: string;
  loc: number;
  /** Lines times harm, in sum: by it the harm of a folder is weighted. */
  harmed: number;
  folders: Folder[];
  files: MeasuredFile[];
}

const made = (path: string, name: string): Folder => ({
  path,
  name,
  loc: 0,
  harmed: 0,
  folders: [],
  files: [],
});

export function treeOf(files: readonly MeasuredFile[]): Folder {
  const root = made("", "");
  const known = new Map<string, Folder>([["", root]]);
  const find = (path: string): Folder => {
    const there = known.get(path);
    if (there) return there;
    const cut = path.lastIndexOf("/");
    const folder = made(path, path.slice(cut + 1));
    known.set(path, folder);
    find(cut < 0 ? "" : path.slice(0, cut)).folders.push(folder);
    return folder;
  };
  for (const file of files) find(file.folder === "." ? "" : file.folder).files.push(file);
  return joined(summed(root));
}

function summed(folder: Folder): Folder {
  for (const one of folder.folders.map(summed)) {
    folder.loc += one.loc;
    folder.harmed += one.harmed;
  }
  for (const file of folder.files) {
    folder.loc += file.loc;
    folder.harmed += file.loc * file.harm;
  }
  return folder;
}

/** A folder in which there is only one folder is one with it. */
function joined(folder: Folder): Folder {
  folder.folders = folder.folders.map((inner) => {
    let one = joined(inner);
    while (one.files.length === 0 && one.folders.length === 1) {
      const [only] = one.folders as [Folder];
      one = { ...only, name: `${one.name}/${only.name}` };
    }
    return one;
  });
  return folder;
}

export const harmOf = (folder: Folder): number => (folder.loc ? folder.harmed / folder.loc : 0);

/** The folders from the root down to one, both of them in; the root alone if it is not there. */
export function wayTo(root: Folder, path: string): Folder[] {
  const way = [root];
  for (;;) {
    const at = way.at(-1) as Folder;
    if (at.path === path) return way;
    const next = at.folders.find((one) => path === one.path || path.startsWith(`${one.path}/`));
    if (!next) return [root];
    way.push(next);
  }
}

/** All files below a folder. */
export const filesBelow = (folder: Folder): MeasuredFile[] => [
  ...folder.files,
  ...folder.folders.flatMap(filesBelow),
];

/** The files that harm most: by what is missing of full marks, in lines. */
export const worstFiles = (folder: Folder, most: number): MeasuredFile[] =>
  filesBelow(folder)
    .filter((file) => file.harm > 0)
    .sort((a, b) => b.harm * b.loc - a.harm * a.loc)
    .slice(0, most);
