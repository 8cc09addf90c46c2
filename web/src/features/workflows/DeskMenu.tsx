import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, History, Trash2, Undo2 } from "lucide-react";
import { AlertDialog } from "@/shared/ui/AlertDialog";
import { IconButton } from "@/shared/ui/IconButton";
import { Menu } from "@/shared/ui/Menu";
import { toast } from "@/shared/ui/Toast";
import { type DefinitionText, deleteDefinition, type Place } from "./queries";

interface DeskMenuProps {
  name: string;
  isChanged: boolean;
  onDiscard: () => void;
  onDelete: () => void;
}

/** What is done with a definition now and then. */
export function DeskMenu({ name, isChanged, onDiscard, onDelete }: DeskMenuProps) {
  const navigate = useNavigate();
  const showRuns = () => void navigate({ to: "/workflows", search: { view: "runs", workflow: name } });
  return (
    <Menu
      trigger={<IconButton tone="plain" label="More actions" icon={<Ellipsis />} />}
      entries={[
        { label: "Its runs", icon: <History />, onSelect: showRuns },
        { label: "Discard changes", icon: <Undo2 />, disabled: !isChanged, onSelect: onDiscard },
        "line",
        { label: "Delete…", icon: <Trash2 />, danger: true, onSelect: onDelete },
      ]}
    />
  );
}

interface DeleteProps {
  definition: DefinitionText;
  place: Place;
  onClose: () => void;
}

export function DeleteDefinition({ definition, place, onClose }: DeleteProps) {
  const navigate = useNavigate();
  const remove = async () => {
    try {
      await deleteDefinition(definition.name, place);
      toast(`${definition.name} is deleted`);
      void navigate({ to: "/workflows" });
    } catch (error) {
      toast.error(error);
    }
  };
  return (
    <AlertDialog
      open
      danger
      onClose={onClose}
      title={`Delete ${definition.name}?`}
      description="Its file is removed. Runs that go on keep the definition that they began with."
      action="Delete"
      onConfirm={remove}
    />
  );
}
