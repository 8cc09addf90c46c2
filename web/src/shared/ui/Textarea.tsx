import type { ComponentProps } from "react";
import { classes } from "./classes";
import { fieldClasses } from "./Input";

export function Textarea({ className, rows = 3, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea
      rows={rows}
      className={classes(
        fieldClasses,
        "field-sizing-content max-h-96 min-h-20 resize-y py-2 read-only:bg-sunken",
        className,
      )}
      {...rest}
    />
  );
}
