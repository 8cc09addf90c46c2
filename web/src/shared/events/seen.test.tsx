import { act, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { useSeen } from "./seen";

function Shown({ value }: { value: string }) {
  return <p>{useSeen(value)}</p>;
}

function become(state: DocumentVisibilityState): void {
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
  act(() => {
    document.dispatchEvent(new Event("visibilitychange"));
  });
}

describe("a value that is seen", () => {
  it("follows while the window is seen, and waits while it is hidden", () => {
    const { rerender } = render(<Shown value="one" />);
    rerender(<Shown value="two" />);
    expect(screen.getByText("two")).toBeInTheDocument();
    become("hidden");
    rerender(<Shown value="three" />);
    expect(screen.getByText("two")).toBeInTheDocument();
    become("visible");
    expect(screen.getByText("three")).toBeInTheDocument();
  });

  it("has its first value also in a window that opens hidden", () => {
    become("hidden");
    render(<Shown value="one" />);
    expect(screen.getByText("one")).toBeInTheDocument();
    become("visible");
  });
});
