import type { ReactNode } from "react";
import { Button, type ButtonProps } from "./Button";
import { classes } from "./classes";
import { Tooltip } from "./Tooltip";

interface IconButtonProps extends Omit<ButtonProps, "children" | "aria-label"> {
  /** What it does; read by screen readers and shown on hover. */
  label: string;
  icon: ReactNode;
}

const SQUARE = { sm: "w-7 px-0!", md: "w-8.5 px-0!", lg: "w-10 px-0!" };

export function IconButton({ label, tone = "quiet", size = "md", className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <Button
        aria-label={label}
        tone={tone}
        size={size}
        className={classes(SQUARE[size], className)}
        {...rest}
      />
    </Tooltip>
  );
}
