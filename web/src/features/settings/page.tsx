import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { Monitor, Moon, Sun } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { NotifyCard } from "@/features/notifications/NotifyCard";
import { setTheme, type Theme, useTheme } from "@/shared/design/theme";
import { Card } from "@/shared/ui/Card";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { Segmented } from "@/shared/ui/Segmented";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { settingList } from "./queries";
import { SettingRow } from "./SettingRow";
import { WebhookTest } from "./WebhookTest";
import { grouped } from "./words";

export default function SettingsPage() {
  const found = useQuery(settingList);
  const shown = found.data ? grouped(found.data) : [];
  useHashPlace(found.isSuccess);
  return (
    <Page title="Settings" description="Changes hold at once, in every window.">
      {found.isPending && <SkeletonRows />}
      {found.isError && (
        <ErrorState
          title="The settings could not be read"
          error={found.error}
          onRetry={() => void found.refetch()}
        />
      )}
      {found.data && (
        <div className="flex items-start gap-10">
          <div className="flex min-w-0 max-w-4xl flex-1 flex-col gap-5">
            {shown.map(({ group, settings }) => (
              <section key={group.id} id={group.id} className="scroll-mt-6">
                <Card flush title={group.title} description={group.about} actions={ACTIONS[group.id]}>
                  {settings.map((setting) => (
                    <SettingRow key={setting.name} setting={setting} />
                  ))}
                  {group.id === "notifications" && (
                    <div className="p-4">
                      <NotifyCard />
                    </div>
                  )}
                </Card>
              </section>
            ))}
            <section id="appearance" className="scroll-mt-6">
              <Card title="Appearance" description="Of this browser alone." actions={<ThemeChoice />} />
            </section>
          </div>
          <Contents
            places={[
              ...shown.map(({ group }) => ({ id: group.id, title: group.title })),
              { id: "appearance", title: "Appearance" },
            ]}
          />
        </div>
      )}
    </Page>
  );
}

/** Other pages lead to a group; it is there only when the settings have been read. */
function useHashPlace(there: boolean): void {
  const hash = useLocation({ select: (location) => location.hash });
  useEffect(() => {
    if (there && hash) document.getElementById(hash)?.scrollIntoView({ block: "start" });
  }, [there, hash]);
}

const link = "text-sm text-accent-ink hover:underline";
const ACTIONS: Record<string, ReactNode> = {
  general: (
    <Link to="/models" className={link}>
      Models and keys
    </Link>
  ),
  limits: (
    <Link to="/usage" className={link}>
      What was used
    </Link>
  ),
  notifications: <WebhookTest />,
  retention: (
    <Link to="/status" className={link}>
      How much is kept
    </Link>
  ),
};

const THEMES = [
  { value: "light", label: "Light", icon: <Sun aria-hidden /> },
  { value: "dark", label: "Dark", icon: <Moon aria-hidden /> },
  { value: "system", label: "As the system", icon: <Monitor aria-hidden /> },
] as const satisfies readonly { value: Theme; label: string; icon: ReactNode }[];

const ThemeChoice = () => <Segmented label="Theme" value={useTheme()} options={THEMES} onChange={setTheme} />;

/** Where the groups are; on wide screens only. */
function Contents({ places }: { places: { id: string; title: string }[] }) {
  return (
    <nav aria-label="Settings" className="sticky top-0 hidden w-44 shrink-0 flex-col gap-px pt-2 xl:flex">
      {places.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          onClick={() => document.getElementById(id)?.scrollIntoView({ block: "start" })}
          className="rounded-md px-2.5 py-1.5 text-left text-sm text-ink-soft hover:bg-hover hover:text-ink"
        >
          {title}
        </button>
      ))}
    </nav>
  );
}
