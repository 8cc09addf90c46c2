import { expect, it } from "vitest";
import { nameFrom } from "./NewConversation";
import type { Channel } from "./queries";
import { commandLine, matching, typedAt } from "./suggest";
import { branchesOf } from "./tree";

it("sees a command at the beginning only, and a mention anywhere", () => {
  expect(typedAt("/gre", 4)).toMatchObject({ kind: "command", query: "gre" });
  expect(typedAt("/greet Ada", 10)).toBeNull();
  expect(typedAt("say /gre", 8)).toBeNull();
  expect(typedAt("see @no", 7)).toMatchObject({ kind: "mention", query: "no", start: 4 });
  expect(typedAt("mail@home", 9)).toBeNull();
});

it("puts first what begins with the words", () => {
  expect(matching(["regret", "greet", "other"], "gre", (one) => one)).toEqual(["greet", "regret"]);
});

it("writes arguments so that each is one word", () => {
  expect(commandLine("/a:b", { name: 'Ada "L"', place: "x/y", none: "" })).toBe(
    '/a:b name="Ada \\"L\\"" place=x/y',
  );
});

it("names a conversation after its first words", () => {
  expect(nameFrom("  Hello\nworld ")).toBe("Hello");
  expect(nameFrom("word ".repeat(40)).length).toBeLessThan(50);
});

it("puts threads under their channels, those with news first, and finds by name and directory", () => {
  const channel = (
    id: string,
    name: string,
    parent_id: string | null = null,
    dir_path: string | null = null,
  ) => ({ id, name, parent_id, dir_path }) as Channel;
  const all = [
    channel("ch_1", "One", null, "/src/fox"),
    channel("ch_2", "Two"),
    channel("ch_3", "Deep", "ch_1"),
  ];
  const activity = { ch_3: { last_message_id: "msg_9" } } as never;
  expect(branchesOf(all, activity, "").map((one) => one.channel.name)).toEqual(["One", "Two"]);
  expect(branchesOf(all, {}, "deep")).toMatchObject([
    { channel: { name: "One" }, threads: [{ name: "Deep" }] },
  ]);
  expect(branchesOf(all, {}, "fox")).toMatchObject([{ channel: { name: "One" } }]);
});
