import { describe, expect, it } from "vitest";
import { argsOf, bodyOf, commandLine, draftOf, EMPTY, MASK, mistakesIn, splitCommand } from "./draft";
import type { Server } from "./queries";

const server = {
  id: 1,
  name: "git",
  transport: "stdio",
  command: "uvx",
  args: ["mcp-server-git", "two\nlines", '"quoted"', ""],
  env: { TOKEN: MASK },
  headers: {},
  enabled: true,
  trust: "trusted",
  parallel: "none",
  tool_timeout: 1500,
  connect_timeout: 30_000,
} as unknown as Server;

describe("a server that is being written", () => {
  it("is sent back as it was read, its secrets masked", () => {
    const body = bodyOf(draftOf(server));
    expect(body).toMatchObject({
      name: "git",
      command: "uvx",
      args: server.args,
      env: { TOKEN: MASK },
      trust: "trusted",
      parallel: "none",
      tool_timeout: 1500,
      connect_timeout: 30_000,
    });
  });

  it("loses what belongs to the other transport", () => {
    const remote = bodyOf({ ...draftOf(server), transport: "http", url: " https://x.dev/mcp " });
    expect(remote).toMatchObject({ url: "https://x.dev/mcp", command: "", args: [], cwd: "" });
    expect(bodyOf({ ...EMPTY, name: "a", command: "b", url: "https://x" })).toMatchObject({
      url: "",
      headers: {},
    });
  });

  it("passes over pairs without a name", () => {
    const draft = {
      ...EMPTY,
      env: [
        { name: " A ", value: "1" },
        { name: "", value: "2" },
      ],
    };
    expect(bodyOf(draft).env).toEqual({ A: "1" });
  });

  it("takes one argument per line", () => {
    expect(argsOf("-y\n\n  @scope/pkg \na b\n")).toEqual(["-y", "@scope/pkg", "a b"]);
  });

  it("says what is wrong before anyone is asked", () => {
    expect(mistakesIn(EMPTY)).toMatchObject({ name: expect.any(String), command: expect.any(String) });
    expect(mistakesIn({ ...EMPTY, name: "a__b", command: "x" }).name).toContain("underscores");
    expect(mistakesIn({ ...EMPTY, name: "12", command: "x" }).name).toContain("digits");
    expect(mistakesIn({ ...EMPTY, name: "a", transport: "http", url: "x.dev" }).url).toBeDefined();
    expect(mistakesIn({ ...EMPTY, name: "a", command: "x", toolTimeout: "soon" }).toolTimeout).toBeDefined();
    expect(mistakesIn({ ...EMPTY, name: "a", command: "x" })).toEqual({});
  });
});

describe("command lines", () => {
  it("are split like a shell does", () => {
    expect(splitCommand(`npx -y "@a/b c" 'd e' --x="1 2"`)).toEqual([
      "npx",
      "-y",
      "@a/b c",
      "d e",
      "--x=1 2",
    ]);
  });
  it("are quoted where they must be", () => {
    expect(commandLine("run", ["a b", "it's", "-y"])).toBe(`run 'a b' 'it'\\''s' -y`);
  });
});
