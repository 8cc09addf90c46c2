import { Link } from "@tanstack/react-router";
import {
  Activity,
  AppWindow,
  BookOpenText,
  Bot,
  CalendarClock,
  ChartColumn,
  Cpu,
  Gauge,
  Inbox,
  type LucideIcon,
  MessageSquare,
  Plug,
  ScrollText,
  Settings2,
  Workflow,
} from "lucide-react";
import { usePendingCount } from "@/features/approvals/queries";

const PLACES = [
  { to: "/", label: "Chat", icon: MessageSquare },
  { to: "/approvals", label: "Approvals", icon: Inbox },
  { to: "/agents", label: "Agents", icon: Bot },
  { to: "/tasks", label: "Tasks", icon: CalendarClock },
  { to: "/workflows", label: "Workflows", icon: Workflow },
  { to: "/playgrounds", label: "Playgrounds", icon: AppWindow },
  { to: "/memory", label: "Memory", icon: BookOpenText },
  { to: "/quality", label: "Quality", icon: Gauge },
  { to: "/servers", label: "Servers", icon: Plug },
  { to: "/log", label: "Log", icon: ScrollText },
  { to: "/models", label: "Models", icon: Cpu },
  { to: "/usage", label: "Usage", icon: ChartColumn },
  { to: "/settings", label: "Settings", icon: Settings2 },
  { to: "/status", label: "Status", icon: Activity },
] as const satisfies readonly { to: string; label: string; icon: LucideIcon }[];

/** Where one can go; `onGo` closes the sheet that it may stand in. */
export function Navigation({ onGo }: { onGo?: () => void }) {
  const waiting = usePendingCount();
  return (
    <nav aria-label="Main" className="flex flex-col gap-px px-2.5">
      {PLACES.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          onClick={onGo}
          activeOptions={{ exact: to === "/", includeSearch: false }}
          className="group flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm text-ink-soft -outline-offset-1 transition-colors duration-(--quick) hover:bg-hover hover:text-ink aria-[current=page]:bg-pressed aria-[current=page]:font-medium aria-[current=page]:text-ink"
        >
          <Icon
            aria-hidden
            className="size-4 shrink-0 text-ink-faint group-aria-[current=page]:text-accent-ink"
          />
          <span className="flex-1">{label}</span>
          {to === "/approvals" && waiting > 0 && (
            <span className="min-w-5 rounded-full bg-accent px-1.5 text-center text-2xs font-semibold leading-5 text-on-accent tabular-nums">
              {waiting}
              <span className="sr-only"> waiting</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}
