import { Outlet, useRouterState } from "@tanstack/react-router";
import { Menu as MenuIcon } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { usePendingCount } from "@/features/approvals/queries";
import { ChatSidebar } from "@/features/chat/ChatSidebar";
import { useLineState } from "@/shared/events/events";
import { Brand } from "@/shared/ui/Brand";
import { IconButton } from "@/shared/ui/IconButton";
import { Sheet } from "@/shared/ui/Sheet";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { Toasts } from "@/shared/ui/Toast";
import { LineBanner, LineDot, SignedOut } from "./LineBanner";
import { Navigation } from "./Navigation";
import { ThemeSwitch } from "./ThemeSwitch";

/** The frame round every page: where one can go, the channels, and the state of the line. */
export function Shell() {
  const state = useLineState();
  useTitle();
  if (state === "signed_out") return <SignedOut />;
  return (
    <div className="flex h-full flex-col bg-back md:flex-row">
      <a
        href="#main"
        className="sr-only z-70 rounded-md bg-accent px-3 py-1.5 text-sm text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <aside aria-label="Sidebar" className="hidden w-(--sidebar-width) shrink-0 flex-col md:flex">
        <Sidebar />
      </aside>
      <PhoneBar />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col md:py-2 md:pr-2">
        <div className="flex min-h-0 flex-1 flex-col overflow-hidden bg-page md:rounded-lg md:border md:border-line md:shadow-sm">
          <LineBanner />
          <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 outline-none">
            <Suspense fallback={<SkeletonRows />}>
              <Outlet />
            </Suspense>
          </main>
        </div>
      </div>
      <Toasts />
    </div>
  );
}

function Sidebar({ onGo }: { onGo?: () => void }) {
  return (
    <>
      <div className="flex items-center gap-2.5 px-4.5 pt-4 pb-3.5">
        <Brand />
        <span className="text-md font-semibold tracking-tight">Manyhands</span>
      </div>
      <Navigation onGo={onGo} />
      <div className="mx-4.5 my-3 h-px bg-line" />
      <div className="flex min-h-0 flex-1 flex-col">
        <ChatSidebar onGo={onGo} />
      </div>
      <div className="flex items-center justify-between px-4.5 py-2.5">
        <LineDot />
        <ThemeSwitch />
      </div>
    </>
  );
}

/** On a phone the sidebar is behind a button. */
function PhoneBar() {
  const [open, setOpen] = useState(false);
  const waiting = usePendingCount();
  const path = useRouterState({ select: (router) => router.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes whenever another page is shown
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="flex h-(--header-height) shrink-0 items-center gap-2 border-b border-line px-2 md:hidden">
      <span className="relative">
        <IconButton label="Open the navigation" icon={<MenuIcon />} onClick={() => setOpen(true)} />
        {waiting > 0 && <span aria-hidden className="absolute top-1 right-1 size-2 rounded-full bg-accent" />}
      </span>
      <Brand className="size-6" />
      <span className="flex-1 text-md font-semibold tracking-tight">Manyhands</span>
      <span className="pr-2">
        <LineDot />
      </span>
      <Sheet open={open} onClose={() => setOpen(false)} title="Navigation">
        <Sidebar onGo={() => setOpen(false)} />
      </Sheet>
    </div>
  );
}

/** The tab says how much waits for the person. */
function useTitle(): void {
  const waiting = usePendingCount();
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Manyhands` : "Manyhands";
  }, [waiting]);
}
