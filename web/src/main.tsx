import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { followEvents } from "@/app/live";
import { router } from "@/app/router";
import { cache } from "@/shared/api/cache";
import { openLine } from "@/shared/events/events";
import { followFocus } from "@/shared/ui/focusHistory";
import { TooltipProvider } from "@/shared/ui/Tooltip";
import "@/shared/design/theme.css";

openLine();
followEvents();
followFocus();

// Styles that components add must carry the page's nonce.
const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;
if (nonce) setNonce(nonce);

// After an update of the hub, parts of the old page are gone: take the new one, once.
addEventListener("vite:preloadError", () => {
  const key = "manyhands.reloaded";
  if (Date.now() - Number(sessionStorage.getItem(key) ?? 0) < 30_000) return;
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
});

const place = document.getElementById("root");
if (place === null) throw new Error("index.html has no #root");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      <TooltipProvider>
        <RouterProvider router={router} />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
