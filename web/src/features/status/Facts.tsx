import type { ReactNode } from "react";
import { Card } from "@/shared/ui/Card";

interface FactsProps {
  title: string;
  actions?: ReactNode;
  facts: readonly (readonly [name: ReactNode, value: ReactNode])[];
  children?: ReactNode;
}

/** Names and values. */
export const Facts = ({ title, actions, facts, children }: FactsProps) => (
  <Card title={title} actions={actions}>
    <dl className="flex flex-col gap-1.5 pt-1 text-sm">
      {facts.map(([name, value], place) => (
        <div key={place} className="flex items-baseline justify-between gap-4">
          <dt className="shrink-0 text-ink-soft">{name}</dt>
          <dd className="min-w-0 text-right tabular-nums [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
    {children}
  </Card>
);
