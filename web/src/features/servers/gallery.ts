/** Well-known servers, each with what it needs. Only what a person must give is asked; the rest is filled in. */
import { type Draft, EMPTY } from "./draft";

/** Something that only the person knows, and where it goes. */
export interface Ask {
  label: string;
  hint: string;
  placeholder: string;
  secret?: boolean;
  put: (draft: Draft, value: string) => Draft;
}

export interface GalleryEntry {
  id: string;
  title: string;
  about: string;
  /** In a word or two. */
  needs: string;
  need: "nothing" | "directory" | "key" | "sign-in";
  draft: Draft;
  asks: Ask[];
}

const local = (name: string, command: string, ...args: string[]): Draft => ({
  ...EMPTY,
  name,
  command,
  args: args.join("\n"),
  // The first start fetches the package.
  connectTimeout: "120",
});
const remote = (name: string, url: string): Draft => ({ ...EMPTY, name, transport: "http", url });

const lastArgument = (draft: Draft, value: string): Draft => ({
  ...draft,
  args: [...draft.args.split("\n").slice(0, -1), value].join("\n"),
});
const bearer = (draft: Draft, value: string): Draft => ({
  ...draft,
  headers: [{ name: "Authorization", value: value && `Bearer ${value}` }],
});

export const GALLERY: readonly GalleryEntry[] = [
  {
    id: "filesystem",
    title: "Filesystem",
    about: "Read, search and edit the files of one directory, and of no other.",
    needs: "A directory",
    need: "directory",
    draft: local("filesystem", "npx", "-y", "@modelcontextprotocol/server-filesystem", ""),
    asks: [
      {
        label: "Directory",
        hint: "It sees this directory and what is in it.",
        placeholder: "/home/me/notes",
        put: lastArgument,
      },
    ],
  },
  {
    id: "memory",
    title: "Memory",
    about: "Remembers people, things and how they belong together, from one conversation to the next.",
    needs: "Nothing",
    need: "nothing",
    draft: local("memory", "npx", "-y", "@modelcontextprotocol/server-memory"),
    asks: [],
  },
  {
    id: "time",
    title: "Time",
    about: "The time now, anywhere, and one zone's time in another.",
    needs: "Nothing",
    need: "nothing",
    draft: local("time", "uvx", "mcp-server-time"),
    asks: [],
  },
  {
    id: "git",
    title: "Git",
    about: "History, differences, branches and commits of a repository.",
    needs: "A directory",
    need: "directory",
    draft: local("git", "uvx", "mcp-server-git", "--repository", ""),
    asks: [
      {
        label: "Repository",
        hint: "The directory that has the .git in it.",
        placeholder: "/home/me/project",
        put: lastArgument,
      },
    ],
  },
  {
    id: "fetch",
    title: "Fetch",
    about: "Reads a page of the web and gives it as Markdown.",
    needs: "Nothing",
    need: "nothing",
    draft: local("fetch", "uvx", "mcp-server-fetch"),
    asks: [],
  },
  {
    id: "everything",
    title: "Everything",
    about: "The protocol's own showcase: tools, prompts, resources, pictures. For trying things out.",
    needs: "Nothing",
    need: "nothing",
    draft: local("everything", "npx", "-y", "@modelcontextprotocol/server-everything"),
    asks: [],
  },
  {
    id: "github",
    title: "GitHub",
    about: "Issues, pull requests, code search and workflows of your repositories.",
    needs: "An access token",
    need: "key",
    draft: remote("github", "https://api.githubcopilot.com/mcp/"),
    asks: [
      {
        label: "Personal access token",
        hint: "From GitHub, Settings, Developer settings. It is stored as a secret.",
        placeholder: "github_pat_…",
        secret: true,
        put: bearer,
      },
    ],
  },
  {
    id: "notion",
    title: "Notion",
    about: "Search, read and write the pages of your workspace.",
    needs: "A sign-in",
    need: "sign-in",
    draft: remote("notion", "https://mcp.notion.com/mcp"),
    asks: [],
  },
  {
    id: "linear",
    title: "Linear",
    about: "Find, create and change issues, projects and comments.",
    needs: "A sign-in",
    need: "sign-in",
    draft: remote("linear", "https://mcp.linear.app/mcp"),
    asks: [],
  },
  {
    id: "sentry",
    title: "Sentry",
    about: "Errors of your applications: what happened, where, how often.",
    needs: "A sign-in",
    need: "sign-in",
    draft: remote("sentry", "https://mcp.sentry.dev/mcp"),
    asks: [],
  },
  {
    id: "deepwiki",
    title: "DeepWiki",
    about: "Questions about public repositories, answered from their code and documents.",
    needs: "Nothing",
    need: "nothing",
    draft: remote("deepwiki", "https://mcp.deepwiki.com/mcp"),
    asks: [],
  },
];
