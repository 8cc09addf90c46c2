import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { JsonView } from "./JsonView";
import { TooltipProvider } from "./Tooltip";

const show = (value: unknown, depth?: number) =>
  render(
    <TooltipProvider>
      <JsonView value={value} depth={depth} />
    </TooltipProvider>,
  );

it("shows names and values", () => {
  show({ city: "Tokyo", count: 3, ok: true, none: null });
  for (const text of ["city", "Tokyo", "3", "true", "null"])
    expect(screen.getByText(text)).toBeInTheDocument();
});

it("folds what is deeper, and opens it on demand", async () => {
  show({ outer: { inner: { deep: "pearl" } } });
  expect(screen.queryByText("pearl")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: /inner/ }));
  expect(screen.getByText("pearl")).toBeInTheDocument();
});

it("cuts a long text with a way to see all of it", async () => {
  const { container } = show({ text: "x".repeat(5000) });
  expect(container.textContent?.length).toBeLessThan(1000);
  await userEvent.click(screen.getByRole("button", { name: /more characters/ }));
  expect(container.textContent?.length).toBeGreaterThan(5000);
});

it("cuts a long list with a way to see more", async () => {
  show(Array.from({ length: 250 }, (_, place) => `entry ${place}`));
  expect(screen.queryByText("entry 200")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "150 more" }));
  expect(screen.getByText("entry 200")).toBeInTheDocument();
});

it("marks hidden characters in names and values", () => {
  show({ "na\u200Bme": "va\u202Elue" });
  expect(screen.getByText("U+200B ZWSP")).toBeInTheDocument();
  expect(screen.getByText("U+202E RLO")).toBeInTheDocument();
});
