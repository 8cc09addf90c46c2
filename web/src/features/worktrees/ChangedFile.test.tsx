import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { ChangedFile, hunksOf } from "./ChangedFile";
import type { FileDiff } from "./queries";

const FILE: FileDiff = {
  path: "src/cart.py",
  status: "changed",
  additions: 1,
  deletions: 1,
  binary: false,
  diff: "diff --git a/src/cart.py b/src/cart.py\n--- a/src/cart.py\n+++ b/src/cart.py\n@@ -1 +1 @@\n-a\n+<b>@@</b>\n",
  cut: false,
};

describe("a file that differs", () => {
  it("shows what differs without the lines that only name it", () => {
    expect(hunksOf(FILE.diff)).toBe("@@ -1 +1 @@\n-a\n+<b>@@</b>");
    expect(hunksOf("similarity index 100%\nrename from a\n")).toBe("similarity index 100%\nrename from a");
  });

  it("opens and closes, and shows text as text", async () => {
    render(<ChangedFile file={FILE} open={false} />);
    const button = screen.getByRole("button", { name: /cart/ });
    expect(screen.queryByRole("region")).toBeNull();
    await userEvent.click(button);
    expect(screen.getByRole("region", { name: "What changed in src/cart.py" })).toHaveTextContent(
      "<b>@@</b>",
    );
    await userEvent.click(button);
    expect(button).toHaveAttribute("aria-expanded", "false");
  });

  it("says so when there is no text to show", () => {
    render(<ChangedFile file={{ ...FILE, binary: true, diff: "" }} open />);
    expect(screen.getByText(/it is not shown/)).toBeVisible();
    expect(screen.queryByText("+1")).toBeNull();
  });
});
