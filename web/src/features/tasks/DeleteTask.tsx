import { AlertDialog } from "@/shared/ui/AlertDialog";
import { toast } from "@/shared/ui/Toast";
import { deleteTask, type Task } from "./queries";

interface DeleteTaskProps {
  task: Task;
  onClose: () => void;
  onGone?: () => void;
}

export function DeleteTask({ task, onClose, onGone }: DeleteTaskProps) {
  const remove = async () => {
    try {
      await deleteTask(task.id);
      toast(`${task.name} is deleted`);
      onGone?.();
    } catch (error) {
      toast.error(error);
    }
  };
  return (
    <AlertDialog
      open
      onClose={onClose}
      danger
      title={`Delete ${task.name}?`}
      description="It will not run again, and its history is forgotten. A run that goes on is stopped. The conversations of its runs stay."
      action="Delete"
      onConfirm={remove}
    />
  );
}
