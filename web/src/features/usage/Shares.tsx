import type { ReactNode } from "react";
import { Card } from "@/shared/ui/Card";

export interface Share {
  key: string;
  name: ReactNode;
  /** What the bar shows. */
  amount: number;
  value: string;
  detail: string;
}

interface SharesProps {
  title: string;
  description: string;
  empty: string;
  shares: readonly Share[];
}

/** Who used how much, as bars from the most to the least. */
export function Shares({ title, description, empty, shares }: SharesProps) {
  const most = Math.max(...shares.map((share) => share.amount), 0);
  return (
    <Card title={title} description={description}>
      {shares.length === 0 && <p className="py-6 text-center text-sm text-ink-faint">{empty}</p>}
      <ol aria-label={title} className="flex flex-col gap-3 pt-1.5">
        {shares.map((share) => (
          <li key={share.key}>
            <div className="flex items-baseline gap-3 text-sm">
              <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">{share.name}</span>
              <span className="tabular-nums">{share.value}</span>
            </div>
            <div aria-hidden className="my-1 h-1.5 overflow-hidden rounded-full bg-sunken">
              <div
                className="h-full rounded-full bg-accent"
                style={{ width: `${most === 0 ? 0 : Math.max(1, (100 * share.amount) / most)}%` }}
              />
            </div>
            <p className="text-xs text-ink-faint tabular-nums">{share.detail}</p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
