import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, Send } from "lucide-react";
import { useEffect, useState } from "react";
import { status } from "@/features/status/queries";
import { ApiError } from "@/shared/api/client";
import { Button, buttonClasses } from "@/shared/ui/Button";
import { Field } from "@/shared/ui/Field";
import { Input } from "@/shared/ui/Input";
import { FirstAnswer } from "./FirstAnswer";
import { useFirstRun } from "./useFirstRun";

const QUESTION = "Which files are in this directory?";

interface AskStepProps {
  onAnswered: () => void;
  onNext: () => void;
}

/** One click asks a real question, in a channel of its own. */
export function AskStep({ onAnswered, onNext }: AskStepProps) {
  const found = useQuery(status);
  const first = useFirstRun();
  const isAnswered = first.run?.status === "completed";
  useEffect(() => {
    if (isAnswered) onAnswered();
  }, [isAnswered, onAnswered]);
  const [prompt, setPrompt] = useState(QUESTION);
  const [written, setDirectory] = useState<string>();
  const directory = written ?? found.data?.directory ?? "";
  const problem = first.error ?? (directory ? null : found.error);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (prompt.trim() && directory.trim()) first.ask({ prompt, directory: directory.trim() });
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-soft">
        The demo model has no intelligence: it looks for a tool that fits your words, calls it, and shows what
        came back. That is the same way that a real model takes.
      </p>
      <form onSubmit={submit} className="grid gap-3 sm:grid-cols-2">
        <Field label="Question">
          {(wiring) => (
            <Input {...wiring} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
          )}
        </Field>
        <Field label="Directory" error={problem && told(problem)}>
          {(wiring) => (
            <Input
              {...wiring}
              value={directory}
              spellCheck={false}
              title={directory}
              onChange={(event) => setDirectory(event.target.value)}
            />
          )}
        </Field>
        <div className="sm:col-span-2">
          <Button
            tone={first.ended ? "plain" : "primary"}
            type="submit"
            icon={<Send />}
            busy={first.working}
            disabled={!directory}
          >
            {first.ended ? "Ask again" : "Ask the demo model"}
          </Button>
        </div>
      </form>
      {first.run && <FirstAnswer run={first.run} prompt={prompt} />}
      {first.run && first.ended && (
        <div className="flex flex-wrap gap-2">
          <Button tone="primary" onClick={onNext}>
            Next: choose who answers
            <ArrowRight aria-hidden />
          </Button>
          <Link
            to="/c/$channelId"
            params={{ channelId: first.run.channel_id }}
            className={buttonClasses("quiet")}
          >
            Open this conversation
          </Link>
        </div>
      )}
    </div>
  );
}

const told = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof ApiError && error.hint ? `${text} ${error.hint}` : text;
};
