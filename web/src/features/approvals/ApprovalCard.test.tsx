import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TooltipProvider } from "@/shared/ui/Tooltip";
import { ApprovalCard } from "./ApprovalCard";
import { addressParts } from "./LinkQuestion";
import type { Approval } from "./question";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children }: { children: React.ReactNode }) => <a href="/somewhere">{children}</a>,
}));

const sent: unknown[] = [];

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "POST") sent.push(await request.json());
    return new Response(JSON.stringify({}), { headers: { "Content-Type": "application/json" } });
  });
});
afterEach(() => vi.unstubAllGlobals());

const BASE: Approval = {
  id: "approval_1",
  kind: "tool",
  state: "pending",
  channel_id: "channel_1",
  run_id: "run_1",
  call_id: "call_1",
  title: "Run write_file of files?",
  detail: {
    tool: "write_file",
    server: "files",
    full_name: "mcp__files__write_file",
    description: "Writes <img src=x onerror=alert(1)>",
    says_destructive: true,
    arguments: { path: "a" },
    arguments_text: '{\n  "path": "a⟨U+202E⟩txt.exe"\n}',
    arguments_size: 30,
    arguments_cut: false,
    author_id: "owner",
    reason: "the server files asks before every call",
    scopes: ["once", "session", "tool", "server"],
  },
  scope: null,
  response: null,
  reason: null,
  created_at: new Date().toISOString(),
  expires_at: new Date(Date.now() + 90_000).toISOString(),
  resolved_at: null,
};

function show(change: Partial<Approval> = {}) {
  return render(
    <QueryClientProvider client={new QueryClient()}>
      <TooltipProvider>
        <ApprovalCard approval={{ ...BASE, ...change }} inChat />
      </TooltipProvider>
    </QueryClientProvider>,
  );
}

describe("a question about a tool", () => {
  it("shows who asks, what would run with nothing hidden, why, and for how long", () => {
    show();
    expect(screen.getByRole("article", { name: "Run write_file of files?" })).toBeInTheDocument();
    expect(screen.getByText(/The assistant asks/)).toBeInTheDocument();
    expect(screen.getByText("the server files asks before every call")).toBeInTheDocument();
    expect(
      within(screen.getByRole("region", { name: "Arguments" })).getByText("U+202E RLO"),
    ).toBeInTheDocument();
    expect(screen.getByText("Says it is destructive")).toBeInTheDocument();
    expect(screen.getByText(/^Expires in 1 min/)).toBeInTheDocument();
    expect(document.querySelector("img")).toBeNull();
  });

  it("is allowed once by one click", async () => {
    show();
    await userEvent.click(screen.getByRole("button", { name: "Allow once" }));
    await waitFor(() => expect(sent).toEqual([{ decision: "approve", scope: "once" }]));
  });

  it.each([
    ["Allow for this session", "session"],
    ["Always allow this tool", "tool"],
    ["Always allow this server", "server"],
  ])("can be answered with: %s", async (label, scope) => {
    show();
    await userEvent.click(screen.getByRole("button", { name: "Allow for longer" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: new RegExp(label) }));
    await waitFor(() => expect(sent).toEqual([{ decision: "approve", scope }]));
  });

  it("is denied with a reason", async () => {
    show();
    await userEvent.click(screen.getByRole("button", { name: "Deny…" }));
    await userEvent.type(screen.getByLabelText(/Why not/), "Not there{Enter}");
    await waitFor(() => expect(sent).toEqual([{ decision: "reject", scope: "once", reason: "Not there" }]));
  });

  it("says when not all of the arguments are shown", () => {
    show({ detail: { ...BASE.detail, arguments_cut: true, arguments_size: 90_000 } });
    expect(screen.getByText(/90,000 characters/)).toBeInTheDocument();
  });

  it("leaves one line when it is answered", () => {
    show({ state: "approved", scope: "tool", resolved_at: new Date().toISOString() });
    expect(screen.getByText("Allowed always, this tool")).toBeInTheDocument();
    expect(screen.queryByRole("button")).toBeNull();
  });
});

describe("a form", () => {
  const detail = {
    mode: "form",
    server: "bookings",
    tool: "book",
    message: "Tell us",
    schema: {
      type: "object",
      properties: { name: { type: "string", title: "Name" }, people: { type: "integer", title: "People" } },
      required: ["name"],
    },
  };

  it("is not sent before what is needed is there, and then with the right types", async () => {
    show({ kind: "elicitation", detail });
    expect(screen.getByRole("article")).toHaveTextContent("The server bookings asks while book runs");
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(screen.getByRole("alert")).toHaveTextContent("This is needed.");
    await userEvent.type(screen.getByLabelText("Name"), "Ada");
    await userEvent.type(screen.getByLabelText("People"), "3");
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    const response = { name: "Ada", people: 3 };
    await waitFor(() => expect(sent).toEqual([{ decision: "approve", scope: "once", response }]));
  });
});

describe("an address to visit", () => {
  const url = "https://bank.example@evil.example/login?x=1";

  it("is shown whole with its real host, and is opened by a click alone", () => {
    show({ kind: "elicitation", detail: { mode: "url", server: "s", message: "Sign in", url } });
    expect(screen.getByText("evil.example").closest("strong")).not.toBeNull();
    const link = screen.getByRole("link", { name: "Open in a new tab" });
    expect(link).toHaveAttribute("rel", "noopener noreferrer");
    expect(link).toHaveAttribute("href", url);
  });

  it("is not opened when it is not of the web", () => {
    show({
      kind: "elicitation",
      detail: { mode: "url", server: "s", message: "x", url: "javascript:alert(1)" },
    });
    expect(screen.queryByRole("link")).toBeNull();
    expect(screen.getByText(/not an address of the web/)).toBeInTheDocument();
  });

  it("is cut round its host", () => {
    expect(addressParts(url)).toEqual({
      before: "https://bank.example@",
      host: "evil.example",
      after: "/login?x=1",
    });
    expect(addressParts("http://a.example")).toEqual({ before: "http://", host: "a.example", after: "" });
    expect(addressParts("ftp://a")).toBeNull();
  });
});

describe("other questions", () => {
  it("shows what a model would be asked", () => {
    const messages = [{ role: "user", content: { type: "text", text: "Sum this up" } }];
    show({
      kind: "sampling",
      title: "s wants to ask a model",
      detail: { server: "s", messages, maxTokens: 5 },
    });
    expect(screen.getByText("Sum this up")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Let the model answer" })).toBeInTheDocument();
  });

  it("shows what was spent and what a yes adds", () => {
    show({ kind: "budget", detail: { of: "run", spent: 1.02, cap: 1, raise_by: 1, why: "" } });
    expect(screen.getByRole("article", { name: /budget of this run/ })).toHaveTextContent("$1.02 spent");
    expect(screen.getByRole("button", { name: "Go on" })).toBeInTheDocument();
  });

  it("shows what a project wants to run", () => {
    const servers = [{ name: "mine", change: "new", command: "node", args: ["server.js"] }];
    show({ detail: { reason: "why", directory: "/srv/app", servers } });
    expect(screen.getByText("node server.js")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Trust this directory" })).toBeInTheDocument();
  });
});
