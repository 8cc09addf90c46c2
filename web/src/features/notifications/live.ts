import { settings } from "@/features/settings/queries";
import type { Follow } from "@/shared/events/follow";
import { approvalNotice, approvalTag, type Notice, runNotice } from "./notices";
import { OneWindow } from "./oneWindow";
import { currentWish } from "./wish";

const shown = new Map<string, Notification>();
let open = (path: string): void => location.assign(path);

/** Say how a page is opened when a notification is clicked. */
export function openWith(go: (path: string) => void): void {
  open = go;
}

export const follow: Follow = (events, cache) => {
  if (!navigator.locks) return;
  const windows = new OneWindow(navigator.locks);
  windows.start();
  const tell = async (find: () => Promise<Notice | null> | Notice | null) => {
    if (currentWish() !== "on" || !(await windows.shouldTell())) return;
    const notice = await find();
    if (notice) show(notice);
  };
  events.on("approval.requested", ({ data }) => void tell(() => approvalNotice(data)));
  events.on("approval.resolved", ({ data }) => close(approvalTag(data.id)));
  events.on(
    "run.finished",
    ({ data }) =>
      void tell(async () =>
        runNotice(data, ((await cache.ensureQueryData(settings)).long_run_s ?? 60) * 1000),
      ),
  );
};

function show({ title, body, tag, path }: Notice): void {
  const made = new Notification(title, { body, tag, icon: "/favicon.svg" });
  shown.set(tag, made);
  made.onclose = () => shown.delete(tag);
  made.onclick = () => {
    window.focus();
    open(path);
    close(tag);
  };
}

function close(tag: string): void {
  shown.get(tag)?.close();
  shown.delete(tag);
}
