import { lazy, Suspense } from "react";
import { classes } from "@/shared/ui/classes";
import { Skeleton } from "@/shared/ui/Skeleton";
import type { GraphProps } from "./Graph";

const Graph = lazy(() => import("./Graph"));

/** The frame of a graph; what draws it comes when it is first shown. */
export const GraphPane = ({ className, ...props }: GraphProps & { className?: string }) => (
  <section
    aria-label={props.label}
    className={classes("relative min-h-0 overflow-hidden rounded-lg border border-line bg-page", className)}
  >
    <Suspense fallback={<Skeleton className="absolute inset-0" />}>
      <Graph {...props} />
    </Suspense>
  </section>
);
