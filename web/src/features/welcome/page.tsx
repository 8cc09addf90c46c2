import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { modelList } from "@/features/models/queries";
import { serverList } from "@/features/servers/queries";
import { Brand } from "@/shared/ui/Brand";
import { Button } from "@/shared/ui/Button";
import { AskStep } from "./AskStep";
import { ModelStep } from "./ModelStep";
import { ServerStep } from "./ServerStep";
import { Step } from "./Step";
import { markSeen } from "./seen";

const LAST = 3;

/** From nothing to the first answered question, then to a real model and a first server. */
export default function WelcomePage() {
  const [step, setStep] = useState(1);
  const navigate = useNavigate();
  const leave = () => {
    markSeen();
    void navigate({ to: "/" });
  };
  const [answered, setAnswered] = useState(false);
  const answer = useCallback(() => setAnswered(true), []);
  const models = useQuery(modelList).data ?? [];
  const servers = useQuery(serverList).data ?? [];
  const part = (number: number, isDone: boolean) => ({
    number,
    state: number === step ? ("now" as const) : isDone ? ("done" as const) : ("later" as const),
    onOpen: () => setStep(number),
  });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-6 sm:px-8 sm:py-10">
        <header className="flex items-start gap-4">
          <Brand className="size-11 shrink-0" />
          <div className="min-w-0 flex-1">
            <h1 className="text-2xl font-semibold tracking-tight">Welcome to Manyhands</h1>
            <p className="mt-0.5 text-md text-ink-soft">
              One place for your models and their tools, in three short steps.
            </p>
          </div>
          <Button tone="quiet" onClick={leave}>
            Skip
          </Button>
        </header>
        <ol className="flex flex-col gap-3">
          <Step
            {...part(1, answered)}
            title="Ask a first question"
            about="No key needed: the demo model is built in."
          >
            <AskStep onAnswered={answer} onNext={() => setStep(2)} />
          </Step>
          <Step
            {...part(
              2,
              models.some((model) => model.provider !== "demo"),
            )}
            title="Choose who answers"
            about="A model with your key, or one on this machine."
          >
            <ModelStep onNext={() => setStep(LAST)} />
          </Step>
          <Step
            {...part(3, servers.length > 0)}
            title="Lend it more hands"
            about="A first MCP server, with what it needs."
          >
            <ServerStep onDone={leave} />
          </Step>
        </ol>
      </div>
    </div>
  );
}
