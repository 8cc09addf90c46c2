import { act, render, screen } from "@testing-library/react";
import { beforeAll, expect, it } from "vitest";
import { Words } from "./Answer";
import { liveTexts } from "./liveTexts";
import type { Message } from "./queries";

const stored = (content: string): Message => ({ content, thinking: "", finish_reason: "stop" }) as Message;

beforeAll(async () => {
  await import("@/shared/ui/MarkdownRendered");
}, 60_000);

it("keeps what was drawn while the model spoke when its answer is stored", async () => {
  const text = "First words.\n\nAnd **more** of them.";
  const { rerender } = render(<Words message={null} runId="run_1" />);
  act(() => liveTexts.seed("run_1", { iteration: 1, text, thinking: "" }));
  const drawn = await screen.findByText("more", {}, { timeout: 30_000 });
  rerender(<Words message={stored(text)} runId="run_1" />);
  expect(screen.getByText("more")).toBe(drawn);
}, 60_000);

it("shows the end of a very long answer while it comes", () => {
  render(<Words message={null} runId="run_2" />);
  const text = `beginning ${"word ".repeat(20_000)} end`;
  act(() => liveTexts.seed("run_2", { iteration: 1, text, thinking: "" }));
  expect(screen.getByText(/A long answer/)).toBeInTheDocument();
  expect(screen.getByText(/ end$/)).not.toHaveTextContent("beginning");
});
