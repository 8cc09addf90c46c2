import { render } from "@testing-library/react";
import { expect, it } from "vitest";
import { cutAtHidden, hasHidden, VisibleText } from "./VisibleText";

it.each([
  ["\u202E", "U+202E RLO"],
  ["\u200B", "U+200B ZWSP"],
  ["\u0000", "U+0000 NUL"],
  ["\u001B", "U+001B ESC"],
  ["\u00A0", "U+00A0 NBSP"],
  ["\uFEFF", "U+FEFF BOM"],
  ["\u3164", "U+3164"],
  ["\u{E0041}", "U+E0041"],
  ["\uFE0F", "U+FE0F"],
  ["\uD800", "U+D800"],
])("shows %j as a mark", (character, name) => {
  expect(cutAtHidden(`a${character}b`)).toEqual([
    { text: "a" },
    { text: character, hidden: name },
    { text: "b" },
  ]);
});

it.each(["plain text", "two\nlines\tand a tab", "Grüße, 你好, שלום", "😀"])("leaves %j as it is", (text) => {
  expect(hasHidden(text)).toBe(false);
  expect(render(<VisibleText text={text} />).container.textContent).toBe(text);
});

it("shows markup as text", () => {
  const { container } = render(<VisibleText text={"<img src=x onerror=alert(1)>\u200B"} />);
  expect(container.querySelector("img")).toBeNull();
  expect(container).toHaveTextContent("<img src=x onerror=alert(1)>U+200B ZWSP");
});
