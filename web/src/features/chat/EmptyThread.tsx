import { Folder, MessagesSquare } from "lucide-react";
import { EmptyState } from "@/shared/ui/EmptyState";
import type { Channel } from "./queries";

/** A conversation in which nothing was said yet. */
export const EmptyThread = ({ channel }: { channel: Channel | undefined }) => (
  <div className="grid h-full place-items-center overflow-y-auto">
    <EmptyState icon={channel?.dir_path ? <Folder /> : <MessagesSquare />} title="Nothing was said here yet">
      {channel?.dir_path ? (
        <>
          Ask something about <code className="[overflow-wrap:anywhere]">{channel.dir_path}</code>; tools of
          this conversation work there.
        </>
      ) : (
        "Write below. Type / for prompts and @ for resources of your servers."
      )}
    </EmptyState>
  </div>
);
