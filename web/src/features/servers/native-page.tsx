import { useQuery } from "@tanstack/react-query";
import { ErrorState } from "@/shared/ui/ErrorState";
import { Page } from "@/shared/ui/Page";
import { SkeletonRows } from "@/shared/ui/Skeleton";
import { nativeTools } from "./queries";
import { BackLink } from "./server-page";
import { ToolViewer } from "./tools/ToolViewer";

/** The tools that the hub brings itself, in the same viewer as those of servers. */
export default function NativePage() {
  const tools = useQuery(nativeTools);
  return (
    <Page
      title="Built-in tools"
      above={<BackLink />}
      description="What the hub can do by itself, in the directory of a conversation."
    >
      {tools.isPending && <SkeletonRows />}
      {tools.isError && (
        <ErrorState
          title="The tools could not be read"
          error={tools.error}
          onRetry={() => void tools.refetch()}
        />
      )}
      {tools.data && <ToolViewer tools={tools.data} />}
    </Page>
  );
}
