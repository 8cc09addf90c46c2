import { Monitor, Moon, Sun } from "lucide-react";
import { setTheme, type Theme, useTheme } from "@/shared/design/theme";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";

const CHOICES = [
  { theme: "light", label: "Light", icon: Sun },
  { theme: "dark", label: "Dark", icon: Moon },
  { theme: "system", label: "As the system", icon: Monitor },
] as const satisfies readonly { theme: Theme; label: string; icon: typeof Sun }[];

export function ThemeSwitch() {
  const wanted = useTheme();
  const Icon = CHOICES.find((choice) => choice.theme === wanted)?.icon ?? Monitor;
  return (
    <Menu
      side="top"
      trigger={<IconButton label="Theme" size="sm" icon={<Icon />} />}
      entries={CHOICES.map(({ theme, label, icon: Choice }) => ({
        label,
        icon: <Choice />,
        checked: theme === wanted,
        onSelect: () => setTheme(theme),
      }))}
    />
  );
}
