import { syntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { languageOf } from "./languages";
import { errorsSinceOpened } from "./lines";
import { asText, type ConsoleLine, exportAddress, keyOf, type Playground } from "./queries";

const line = (level: ConsoleLine["level"], text: string): ConsoleLine => ({ id: 0, level, text, at: "" });

describe("the console", () => {
  it("counts the errors since the page was last opened", () => {
    expect(errorsSinceOpened([line("error", "old"), line("info", "opened"), line("error", "new")])).toBe(1);
    expect(errorsSinceOpened([line("error", "before"), line("log", "opened")])).toBe(1);
    expect(errorsSinceOpened([])).toBe(0);
  });
});

describe("a key", () => {
  it("names a global playground and one of a project apart", () => {
    const one = { name: "a", scope: "global", channel_id: null } as Playground;
    expect(asText(keyOf(one))).toBe("global:a");
    expect(asText(keyOf({ ...one, scope: "project", channel_id: "ch_1" }))).toBe("ch_1:a");
    expect(exportAddress({ name: "a", channelId: "ch_1" })).toBe(
      "/api/playgrounds/a/export?scope=project&channel_id=ch_1",
    );
  });
});

describe("colours", () => {
  const kinds = (path: string, doc: string): string[] => {
    const found: string[] = [];
    syntaxTree(EditorState.create({ doc, extensions: languageOf(path) })).iterate({
      enter: (node) => {
        if (!node.type.isTop) found.push(`${node.name} ${doc.slice(node.from, node.to)}`);
      },
    });
    return found;
  };

  it("tell words, texts, numbers and comments of scripts apart", () => {
    expect(kinds("a.js", "const a = 'x\\'y'; // 1")).toEqual([
      "keyword const",
      "string 'x\\'y'",
      "comment // 1",
    ]);
    expect(kinds("a.js", "`over\nlines` 12")).toEqual(["string `over", "string lines`", "number 12"]);
  });

  it("know styles and pages, and leave the rest alone", () => {
    expect(kinds("a.css", "p { color: #fff }")).toEqual(["propertyName color", "number #fff"]);
    expect(kinds("a.html", "<!-- a --><p>it's</p>")).toEqual([
      "comment <!-- a -->",
      "keyword <p>",
      "keyword </p>",
    ]);
    expect(kinds("a.txt", "const")).toEqual([]);
  });
});
