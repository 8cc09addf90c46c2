import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  CircleDollarSign,
  FileQuestion,
  FolderLock,
  Link2,
  type LucideIcon,
  MessageCircleQuestionMark,
  Plug,
  Sparkles,
  Wrench,
} from "lucide-react";
import { useId } from "react";
import { channelList } from "@/features/chat/queries";
import { Badge } from "@/shared/ui/Badge";
import { JsonView } from "@/shared/ui/JsonView";
import { RelativeTime } from "@/shared/ui/RelativeTime";
import { type AnswerBody, useAnswer } from "./answer";
import { Countdown } from "./Countdown";
import { Decision } from "./Decision";
import { FormQuestion } from "./FormQuestion";
import { LinkQuestion } from "./LinkQuestion";
import { BudgetQuestion, ProjectQuestion, SamplingQuestion, WorkflowQuestion } from "./OtherQuestions";
import { Outcome } from "./Outcome";
import { type Approval, type Question, questionOf, reasonOf, type Scope, scopesOf } from "./question";
import { SpelledText } from "./SpelledText";
import { ToolQuestion } from "./ToolQuestion";

interface ApprovalCardProps {
  approval: Approval;
  /** In its own conversation, which then need not be named. */
  inChat?: boolean;
}

/** One question to the person: who asks, for what exactly, why; and what can be said. Answered, one line is left. */
export function ApprovalCard({ approval, inChat = false }: ApprovalCardProps) {
  const heading = useId();
  const answer = useAnswer(approval.id);
  const question = questionOf(approval);
  if (approval.state !== "pending") return <Outcome approval={approval} />;
  const reason = reasonOf(approval);
  const busy = answer.isPending || answer.isSuccess;
  return (
    <article
      aria-labelledby={heading}
      data-approval={approval.id}
      className="min-w-0 rounded-lg border border-line bg-raised shadow-sm"
    >
      <header className="flex items-start gap-3 px-4 pt-3.5">
        <KindIcon question={question} />
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5">
            <h3 id={heading} className="min-w-0 text-md font-semibold [overflow-wrap:anywhere]">
              <Heading approval={approval} question={question} />
            </h3>
            {approval.expires_at && <Countdown until={approval.expires_at} />}
          </div>
          <Asker approval={approval} question={question} inChat={inChat} />
        </div>
      </header>
      <div className="flex flex-col gap-3.5 px-4 pt-3 pb-4 sm:pl-14.5">
        {reason && (
          <p className="text-sm text-ink-soft">
            <span className="font-medium text-ink">Why it asks: </span>
            <SpelledText text={reason} />
          </p>
        )}
        <Asked approval={approval} question={question} busy={busy} onAnswer={(body) => answer.mutate(body)} />
      </div>
    </article>
  );
}

const ICONS: Record<Question["kind"], LucideIcon> = {
  tool: Plug,
  project: FolderLock,
  form: FileQuestion,
  url: Link2,
  sampling: Sparkles,
  budget: CircleDollarSign,
  other: MessageCircleQuestionMark,
};

export function KindIcon({ question }: { question: Question }) {
  const Icon = question.kind === "tool" && question.native ? Wrench : ICONS[question.kind];
  return (
    <span
      aria-hidden
      className="mt-0.5 grid size-7.5 shrink-0 place-items-center rounded-md bg-warn-soft text-warn-ink"
    >
      <Icon className="size-4" />
    </span>
  );
}

export function Heading({ approval, question }: { approval: Approval; question: Question }) {
  switch (question.kind) {
    case "tool":
      return (
        <>
          Run{" "}
          <code className="text-[0.95em]">
            <SpelledText text={question.tool} />
          </code>
          {!question.native && (
            <>
              {" "}
              of <SpelledText text={question.server} />
            </>
          )}
          ?
        </>
      );
    case "form":
    case "url":
      return question.message ? (
        <SpelledText text={question.message} />
      ) : (
        <SpelledText text={approval.title} />
      );
    case "project":
      return <>Start the servers of this project?</>;
    case "budget":
      return <>The budget of this {question.of || "run"} is used up. Go on?</>;
    default:
      return <SpelledText text={gateOf(approval) ?? approval.title} />;
  }
}

/** A gate's words stand below in full: its name is enough above them. */
function gateOf({ detail }: Approval): string | null {
  return detail.asked === "approval" ? `${detail.workflow} waits at ${detail.node_id}` : null;
}

/** Who asks, from where, since when; and what the tool says about itself in badges. */
function Asker({ approval, question, inChat }: { approval: Approval; question: Question; inChat: boolean }) {
  const channels = useQuery({ ...channelList, enabled: approval.channel_id !== null && !inChat });
  const channel = channels.data?.find((one) => one.id === approval.channel_id);
  const server = "server" in question && question.kind !== "tool" ? question.server : null;
  const tool = "tool" in question && question.kind !== "tool" ? question.tool : null;
  return (
    <div className="mt-0.5 flex flex-wrap items-center gap-x-1.5 gap-y-1 text-xs text-ink-faint">
      <span className="[overflow-wrap:anywhere]">
        {server ? (
          <>
            The server <SpelledText text={server} /> asks
            {tool && (
              <>
                {" "}
                while <code>{tool}</code> runs
              </>
            )}
          </>
        ) : (
          askerOf(approval, question)
        )}
        {!inChat && approval.channel_id && (
          <>
            {" in "}
            <Link
              to="/c/$channelId"
              params={{ channelId: approval.channel_id }}
              className="font-medium text-ink-soft underline-offset-2 hover:text-ink hover:underline"
            >
              {channel?.name ?? "its conversation"}
            </Link>
          </>
        )}
        {" · "}
        <RelativeTime at={approval.created_at} />
      </span>
      {question.kind === "tool" && question.destructive && <Badge mood="bad">Says it is destructive</Badge>}
      {question.kind === "tool" && question.readOnly && <Badge>Says it only reads</Badge>}
    </div>
  );
}

function askerOf(approval: Approval, question: Question): string {
  if (question.kind === "project") return "A project's own file asks";
  if (question.kind === "budget") return "The hub asks";
  if (approval.kind === "workflow") return "A workflow asks";
  const author = (approval.detail as Record<string, unknown>).author_id;
  if (approval.run_id === null)
    return typeof author === "string" && author !== "owner" ? `${author} asks` : "A caller asks";
  const whose = typeof author === "string" && author !== "owner" ? `, for ${author},` : "";
  return `The assistant${whose} asks`;
}

interface AskedProps {
  approval: Approval;
  question: Question;
  busy: boolean;
  onAnswer: (answer: AnswerBody) => void;
}

/** What is asked, and what can be answered. */
function Asked({ approval, question, busy, onAnswer }: AskedProps) {
  const said = { busy, onAnswer };
  switch (question.kind) {
    case "form":
      return <FormQuestion schema={question.schema} problem={question.problem} {...said} />;
    case "url":
      return <LinkQuestion url={question.url} {...said} />;
    case "tool":
      return (
        <>
          <ToolQuestion question={question} />
          <Decision yes="Allow once" more={longer(approval, question)} {...said} />
        </>
      );
    case "project":
      return (
        <>
          <ProjectQuestion question={question} />
          <Decision yes="Trust this directory" no="Do not start them" {...said} />
        </>
      );
    case "sampling":
      return (
        <>
          <SamplingQuestion question={question} />
          <Decision yes="Let the model answer" {...said} />
        </>
      );
    case "budget":
      return (
        <>
          <BudgetQuestion question={question} />
          <Decision
            yes="Go on"
            no="End the run"
            more={[
              {
                scope: "session",
                label: "Lift the cap",
                hint: `This ${question.of || "run"} is not asked about again`,
              },
            ]}
            {...said}
          />
        </>
      );
    default:
      return (
        <>
          {approval.kind === "workflow" ? (
            <WorkflowQuestion detail={question.detail} runId={approval.run_id} />
          ) : (
            <JsonView value={question.detail} label="Details" />
          )}
          <Decision yes="Approve" no="Reject" {...said} />
        </>
      );
  }
}

function longer(approval: Approval, question: Extract<Question, { kind: "tool" }>) {
  const whose = question.native ? "every built-in tool" : `every tool of ${question.server}`;
  const all: Record<Exclude<Scope, "once">, { label: string; hint: string }> = {
    session: { label: "Allow for this session", hint: "This tool, until this conversation's session ends" },
    tool: { label: "Always allow this tool", hint: `${question.tool}, whatever its arguments` },
    server: { label: "Always allow this server", hint: whose },
  };
  return scopesOf(approval)
    .filter((scope) => scope !== "once")
    .map((scope) => ({ scope, ...all[scope] }));
}
