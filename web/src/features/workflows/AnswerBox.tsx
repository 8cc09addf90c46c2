import { useMutation } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { Button } from "@/shared/ui/Button";
import { Field } from "@/shared/ui/Field";
import { Markdown } from "@/shared/ui/Markdown";
import { Textarea } from "@/shared/ui/Textarea";
import { toast } from "@/shared/ui/Toast";
import { answerRun, type RunNode } from "./queries";

const ASKED: Record<string, { words: string; yes: string; no: string }> = {
  approval: { words: "", yes: "Approve", no: "Reject" },
  interrupted: {
    words: "A restart cut it, and nobody knows how far it had come. Run it again?",
    yes: "Run it again",
    no: "Let it fail",
  },
  permission: {
    words: "The run was not started by you. May it do this?",
    yes: "Allow",
    no: "Let it fail",
  },
};

/** A node that waits for a person: what it asks, and the answer. */
export function AnswerBox({ runId, node }: { runId: string; node: RunNode }) {
  const [response, setResponse] = useState("");
  const answer = useMutation({
    mutationFn: (decision: "approve" | "reject") =>
      answerRun(runId, { decision, response: response.trim() || null, node_id: node.id }),
    onError: toast.error,
  });
  const asked = ASKED[String(node.detail?.asked ?? "approval")] ?? (ASKED.approval as (typeof ASKED)[string]);
  const inputs = (node.inputs ?? {}) as Record<string, unknown>;
  const message = typeof inputs.message === "string" ? inputs.message : "";
  return (
    <section
      aria-label={`Answer ${node.id}`}
      className="flex flex-col gap-3 rounded-md border border-warn bg-warn-soft p-3.5"
    >
      {asked.words && <p className="text-sm font-medium">{asked.words}</p>}
      {message && <Markdown text={message} />}
      <Field label="Your words" aside="if you like">
        {(wiring) => (
          <Textarea
            {...wiring}
            rows={2}
            value={response}
            placeholder="The nodes after it can use them."
            onChange={(event) => setResponse(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button
          tone="primary"
          icon={<Check />}
          busy={answer.isPending && answer.variables === "approve"}
          disabled={answer.isPending}
          onClick={() => answer.mutate("approve")}
        >
          {asked.yes}
        </Button>
        <Button
          icon={<X />}
          busy={answer.isPending && answer.variables === "reject"}
          disabled={answer.isPending}
          onClick={() => answer.mutate("reject")}
        >
          {asked.no}
        </Button>
      </div>
    </section>
  );
}
