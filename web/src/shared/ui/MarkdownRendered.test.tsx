import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import MarkdownRendered, { cutIntoBlocks } from "./MarkdownRendered";
import { TooltipProvider } from "./Tooltip";

const show = (text: string) =>
  render(
    <TooltipProvider>
      <MarkdownRendered text={text} />
    </TooltipProvider>,
  );

it("shows HTML as text and runs nothing", () => {
  const { container } = show("Hello <script>alert(1)</script> <img src=x onerror=alert(1)>");
  expect(container.querySelector("script, img")).toBeNull();
});

it("links nowhere that runs code", () => {
  show("[go](javascript:alert(1))");
  expect(screen.getByText("go")).not.toHaveAttribute("href", expect.stringContaining("javascript"));
});

it("turns pictures from elsewhere into links", () => {
  const { container } = show("![secret](https://elsewhere.example/p.png?data=1)");
  expect(container.querySelector("img")).toBeNull();
  expect(screen.getByRole("link", { name: "secret" })).toHaveAttribute(
    "rel",
    expect.stringContaining("noreferrer"),
  );
});

it("keeps fences, lists and tables in one piece, and the whole text whole", () => {
  const text = "One.\n\nTwo.\n\n```py\na = 1\n\nb = 2\n```\n\n- x\n\n  y\n- z\n\nEnd.";
  const blocks = cutIntoBlocks(text);
  expect(blocks.join("\n")).toBe(text);
  expect(blocks.find((block) => block.includes("a = 1"))).toContain("b = 2");
  expect(blocks.find((block) => block.startsWith("- x") || block.includes("\n- x"))).toContain("- z");
});
