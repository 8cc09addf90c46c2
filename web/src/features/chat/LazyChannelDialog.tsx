import { type ComponentProps, lazy, Suspense } from "react";
import type { ChannelDialog as Whole } from "./ChannelDialog";

const Loaded = lazy(() => import("./ChannelDialog").then((module) => ({ default: module.ChannelDialog })));

/** Fetched when it is first opened. */
export const ChannelDialog = (props: ComponentProps<typeof Whole>) => (
  <Suspense>
    <Loaded {...props} />
  </Suspense>
);
