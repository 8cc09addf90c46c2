import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { buttonClasses } from "@/shared/ui/Button";
import { EmptyState } from "@/shared/ui/EmptyState";

export const NotFound = () => (
  <EmptyState
    icon={<Compass />}
    title="There is no page here"
    action={
      <Link to="/" className={buttonClasses("primary")}>
        Go to the chat
      </Link>
    }
  >
    The address may be old, or what it named may be gone.
  </EmptyState>
);
