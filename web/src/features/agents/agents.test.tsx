import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Tooltip } from "radix-ui";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Channel } from "@/features/chat/queries";
import { AgentTile } from "./AgentTile";
import { loadLayout, placed, saveLayout, TILE } from "./layout";
import { withReceipt } from "./live";
import { type Agent, type AgentMessage, agentMessages } from "./queries";
import { TileComposer } from "./TileComposer";
import { piecesOf } from "./terminal";
import { firstChannel, tilesOf } from "./tiles";

const channel = (id: string, parent_id: string | null = null) => ({ id, name: id, parent_id }) as Channel;
const agent = (id: string, channel_id: string, name = id) =>
  ({
    id,
    channel_id,
    name,
    status: "working",
    work_summary: "<b>the parser</b>",
    registered_at: "2030-01-01T00:00:00Z",
    last_seen: "2030-01-01T00:00:00Z",
    listening: true,
    waiting: 0,
    me: false,
  }) as Agent;
const message = (id: string, state: AgentMessage["state"], content = id) =>
  ({
    id,
    channel_id: "c",
    from_agent: "owner",
    to_agent_id: "a",
    content,
    state,
    at: "2030-01-01T00:00:00Z",
    delivered_at: null,
    ended_at: null,
  }) as AgentMessage;

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});

describe("tiles", () => {
  const channels = [channel("c"), channel("t1", "c"), channel("t2", "t1"), channel("d"), channel("e", "d")];

  it("are the agents of a channel and of all below it, by name, then its threads, newest first", () => {
    const tiles = tilesOf("c", channels, [agent("z", "t2", "Ada"), agent("b", "c", "Zoe"), agent("x", "d")]);
    expect(tiles.map((tile) => tile.key)).toEqual(["agent t2 z", "agent c b", "thread t2", "thread t1"]);
  });

  it("begin where agents are, else where threads are", () => {
    expect(firstChannel(channels, [agent("x", "e")])?.id).toBe("d");
    expect(firstChannel([channel("a"), ...channels], [])?.id).toBe("c");
    expect(firstChannel([], [])).toBeUndefined();
  });
});

describe("the canvas", () => {
  it("remembers where tiles were put and finds a free place for new ones", () => {
    saveLayout("c", { one: { x: 10, y: 20 } });
    const spots = placed(["one", "two", "three"], loadLayout("c"));
    expect(spots.one).toEqual({ x: 10, y: 20 });
    expect(spots.two).toEqual({ x: TILE.width + TILE.gap, y: 0 });
    expect(spots.three).toEqual({ x: 2 * (TILE.width + TILE.gap), y: 0 });
    expect(loadLayout("another")).toEqual({});
    expect(placed(["one", "two"], {}, 1).two).toEqual({ x: 0, y: TILE.height + TILE.gap });
  });

  it("takes nothing that is no place", () => {
    localStorage.setItem(
      "manyhands.canvas.c",
      '{"one": {"x": "far"}, "two": {"x": 1, "y": 2}, "three": null}',
    );
    expect(loadLayout("c")).toEqual({ two: { x: 1, y: 2 } });
    localStorage.setItem("manyhands.canvas.c", "{");
    expect(loadLayout("c")).toEqual({});
  });
});

describe("terminal colours", () => {
  it("become looks, and what only moves the cursor is left out", () => {
    expect(piecesOf("a\x1b[1;31mred\x1b[0m\x1b[2K\x1b]0;title\x07 \x1b[38;5;2mgreen\x1b[39m.")).toEqual([
      { text: "a", look: "" },
      { text: "red", look: "text-bad-ink font-semibold" },
      { text: " ", look: "" },
      { text: "green", look: "text-good-ink" },
      { text: ".", look: "" },
    ]);
    expect(piecesOf("\x1b[38;2;1;2;3mx\x1b[48;5;9my\x1b[4mz\x1b[24;90mw")).toEqual([
      { text: "x", look: "" },
      { text: "y", look: "" },
      { text: "z", look: "underline" },
      { text: "w", look: "text-ink-faint" },
    ]);
  });

  it("show a line that was begun again as it was written last", () => {
    expect(piecesOf("10 %\r50 %\r100 %\r\ndone")).toEqual([{ text: "100 %\ndone", look: "" }]);
  });
});

it("keeps a text that was read whole when its receipt comes with a part of it", () => {
  const list = [message("m1", "queued", "the whole text")];
  expect(withReceipt(list, message("m1", "read", "the w"))[0]).toMatchObject({
    state: "read",
    content: "the whole text",
  });
  expect(withReceipt(list, message("m2", "queued")).map((one) => one.id)).toEqual(["m2", "m1"]);
});

it("shows what an agent says of itself and its mail as text, with receipts", () => {
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const list = [message("m2", "queued", "<img src=x onerror=alert(1)>"), message("m1", "read", "hello")];
  cache.setQueryData(agentMessages("c", "a").queryKey, list);
  render(
    <QueryClientProvider client={cache}>
      <Tooltip.Provider>
        <AgentTile agent={agent("a", "c", "Ada")} />
      </Tooltip.Provider>
    </QueryClientProvider>,
  );
  expect(screen.getByRole("heading", { name: "Ada" })).toBeInTheDocument();
  expect(screen.getByText("<b>the parser</b>")).toBeInTheDocument();
  expect(screen.getByText("<img src=x onerror=alert(1)>")).toBeInTheDocument();
  expect(screen.getAllByText(/Waiting|Read/).map((one) => one.textContent)).toEqual(["Read", "Waiting"]);
  expect(document.querySelector("img, b")).toBeNull();
});

it("keeps a message in the line when it could not be sent", async () => {
  const send = vi.fn().mockRejectedValueOnce(new Error("full")).mockResolvedValueOnce({});
  render(<TileComposer name="Ada" send={send} />, { wrapper: Tooltip.Provider });
  const line = screen.getByRole("textbox", { name: "Message to Ada" });
  await userEvent.type(line, "hello{Enter}");
  expect(line).toHaveValue("hello");
  await userEvent.click(screen.getByRole("button", { name: "Send to Ada" }));
  await waitFor(() => expect(line).toHaveValue(""));
  expect(send).toHaveBeenCalledTimes(2);
});
