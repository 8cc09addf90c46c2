import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { render, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TooltipProvider } from "@/shared/ui/Tooltip";
import { History } from "./History";
import type { Task } from "./queries";

afterEach(() => {
  vi.unstubAllGlobals();
});

const RUN = {
  task_id: "t",
  due_at: "2026-01-01T09:00:00Z",
  trigger: "schedule",
  attempt: 1,
  text: "",
  denied: [],
  thread_id: null,
  workflow_run_id: null,
  started_at: null,
  ended_at: null,
  duration_s: null,
  cost: null,
  error: null,
  note: null,
};

function show(items: object[]): void {
  vi.stubGlobal("fetch", async () => Response.json({ items, next_cursor: null }));
  const root = createRootRoute({ component: () => <History task={{ id: "t" } as Task} /> });
  const router = createRouter({ routeTree: root, history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TooltipProvider>
        <RouterProvider router={router as never} />
      </TooltipProvider>
    </QueryClientProvider>,
  );
}

test("a time that was missed is a row that says so, between those that ran", async () => {
  show([
    {
      ...RUN,
      id: "2",
      state: "completed",
      trigger: "catch_up",
      thread_id: "ch_2",
      duration_s: 62,
      cost: 0.25,
      text: "<img src=x onerror=alert(1)>",
    },
    { ...RUN, id: "1", state: "missed", note: "3 runs were missed: no hub was there to start it." },
  ]);
  const [, done, missed] = await screen.findAllByRole("row");
  if (!done || !missed) throw new Error("two rows");
  expect(within(missed).getByText("Missed")).toBeVisible();
  expect(within(missed).getAllByText(/3 runs were missed/)[0]).toBeInTheDocument();
  expect(within(missed).queryByRole("link")).toBeNull();
  expect(within(done).getByRole("link", { name: /Transcript/ })).toHaveAttribute("href", "/c/ch_2");
  expect(done).toHaveTextContent("made up for");
  expect(done).toHaveTextContent("1 min 2 s");
  expect(done).toHaveTextContent("$0.25");
  expect(document.querySelector("img")).toBeNull();
});

test("a task that never ran says what to do", async () => {
  show([]);
  expect(await screen.findByText("It has not run yet")).toBeVisible();
});
