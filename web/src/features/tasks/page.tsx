import { useQuery } from "@tanstack/react-query";
import { CalendarClock, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { channelList } from "@/features/chat/queries";
import { Button } from "@/shared/ui/Button";
import { Card } from "@/shared/ui/Card";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { SearchInput } from "@/shared/ui/SearchInput";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { inOrder, matching, summary } from "./order";
import { type Task, taskList } from "./queries";
import { TaskDialog } from "./TaskDialog";
import { TaskRow } from "./TaskRow";

const MANY = 6;

export default function TasksPage() {
  const tasks = useQuery(taskList);
  const [making, setMaking] = useState(false);
  const list = tasks.data;
  const make = (tone: "primary" | "plain") => (
    <Button tone={tone} icon={<Plus />} onClick={() => setMaking(true)}>
      New task
    </Button>
  );
  return (
    <Page
      title="Tasks"
      description={
        list?.length
          ? summary(list)
          : "Work that is done later, again and again, or at the press of a button."
      }
      actions={list?.length ? make("primary") : undefined}
    >
      {tasks.isPending && <SkeletonRows />}
      {tasks.isError && (
        <ErrorState
          title="The tasks could not be read"
          error={tasks.error}
          onRetry={() => void tasks.refetch()}
        />
      )}
      {list?.length === 0 && (
        <Card>
          <EmptyState icon={<CalendarClock />} title="No tasks yet" action={make("primary")}>
            Have an agent write a report every morning, start a workflow at night, or run a script every ten
            minutes. Agents can make tasks, too: just ask.
          </EmptyState>
        </Card>
      )}
      {list && list.length > 0 && <TaskRows tasks={list} />}
      {making && <TaskDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}

const SHOWN = 100;

function TaskRows({ tasks }: { tasks: readonly Task[] }) {
  const [wanted, setWanted] = useState("");
  const [most, setMost] = useState(SHOWN);
  const channels = useQuery(channelList).data;
  const names = useMemo(() => new Map(channels?.map((one) => [one.id, one.name])), [channels]);
  const found = useMemo(() => inOrder(matching(tasks, wanted)), [tasks, wanted]);
  return (
    <>
      {tasks.length > MANY && (
        <SearchInput label="Search tasks" value={wanted} onChange={setWanted} className="max-w-sm" />
      )}
      <Card flush className="overflow-hidden">
        <ul aria-label="Tasks" className="-mt-1 divide-y divide-line">
          {found.slice(0, most).map((task) => (
            <TaskRow key={task.id} task={task} channel={names.get(task.channel_id)} />
          ))}
        </ul>
        {found.length === 0 && (
          <p className="px-4 py-8 text-center text-sm text-ink-soft">No task matches “{wanted}”.</p>
        )}
        {found.length > most && (
          <div className="border-t border-line p-2 text-center">
            <Button tone="quiet" size="sm" onClick={() => setMost(most + SHOWN)}>
              Show {Math.min(SHOWN, found.length - most)} more of {found.length}
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}
