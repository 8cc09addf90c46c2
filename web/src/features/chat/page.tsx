import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { MessageSquareOff } from "lucide-react";
import { buttonClasses } from "@/shared/ui/Button";
import { EmptyState } from "@/shared/ui/EmptyState";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Conversation } from "./Conversation";
import { NewConversation } from "./NewConversation";
import { channelList } from "./queries";

export default function ChatPage() {
  const { channelId } = useParams({ strict: false });
  if (channelId === undefined) return <NewConversation />;
  return <Known key={channelId} channelId={channelId} />;
}

function Known({ channelId }: { channelId: string }) {
  const channels = useQuery(channelList);
  const channel = channels.data?.find((one) => one.id === channelId);
  if (channels.isError)
    return (
      <ErrorState
        title="The channels could not be read"
        error={channels.error}
        onRetry={() => void channels.refetch()}
      />
    );
  if (channels.data && channel === undefined) return <Gone />;
  return <Conversation channelId={channelId} channel={channel} />;
}

const Gone = () => (
  <EmptyState
    icon={<MessageSquareOff />}
    title="This conversation is gone"
    action={
      <Link to="/" className={buttonClasses("primary")}>
        Begin a new one
      </Link>
    }
  >
    It was deleted, here or in another window.
  </EmptyState>
);
