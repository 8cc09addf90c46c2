import {
  BookOpenText,
  Download,
  FileJson,
  Folder,
  Gauge,
  GitBranchPlus,
  MessageSquarePlus,
  MessageSquareText,
  Pencil,
  Trash2,
} from "lucide-react";
import type { MenuEntry } from "@/shared/ui/Menu";
import { download } from "./actions";
import type { Doing } from "./ChannelDialog";
import type { Channel } from "./queries";

/** What can be done with a conversation; the same from the sidebar and from its header. */
export function channelEntries(
  channel: Channel,
  onDo: (doing: Doing) => void,
  onShow: (page: "/memory" | "/quality") => void,
): MenuEntry[] {
  const file = (format: string) =>
    download(`/api/channels/${encodeURIComponent(channel.id)}/export?format=${format}`);
  return [
    { label: "Rename", icon: <Pencil />, onSelect: () => onDo({ what: "rename", channel }) },
    {
      label: "Instructions",
      icon: <MessageSquareText />,
      onSelect: () => onDo({ what: "instructions", channel }),
    },
    ...(channel.parent_id === null
      ? ([
          {
            label: "New thread",
            icon: <MessageSquarePlus />,
            onSelect: () => onDo({ what: "thread", channel }),
          },
          ...(channel.dir_path
            ? [
                {
                  label: "New worktree thread",
                  icon: <GitBranchPlus />,
                  onSelect: () => onDo({ what: "worktree", channel }),
                },
              ]
            : []),
          {
            label: channel.dir_path ? "Change the directory" : "Give it a directory",
            icon: <Folder />,
            onSelect: () => onDo({ what: "directory", channel }),
          },
        ] satisfies MenuEntry[])
      : []),
    "line",
    { label: "Search its memory", icon: <BookOpenText />, onSelect: () => onShow("/memory") },
    ...(channel.dir_path
      ? [{ label: "Quality of its code", icon: <Gauge />, onSelect: () => onShow("/quality") }]
      : []),
    "line",
    { label: "Export as Markdown", icon: <Download />, onSelect: () => file("markdown") },
    { label: "Export as JSON", icon: <FileJson />, onSelect: () => file("json") },
    "line",
    {
      label: "Delete",
      icon: <Trash2 />,
      danger: true,
      onSelect: () => onDo({ what: "delete", channel }),
    },
  ];
}
