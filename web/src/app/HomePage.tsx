import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useState } from "react";
import ChatPage from "@/features/chat/page";
import { anythingAsked, markSeen, useSeen } from "@/features/welcome/seen";
import { SkeletonRows } from "@/shared/ui/Skeleton";

const WelcomePage = lazy(() => import("@/features/welcome/page"));

/** The chat; or the way to the first answer, as long as nothing was ever asked and nobody has skipped it. */
export default function HomePage() {
  return useSeen() ? <ChatPage /> : <FirstTime />;
}

function FirstTime() {
  const asked = useQuery(anythingAsked);
  // Decided once: the first question must not take its own page away.
  const [isNew, setNew] = useState<boolean>();
  useEffect(() => {
    if (isNew !== undefined || asked.isPending) return;
    if (asked.data === true) markSeen();
    setNew(asked.data === false);
  }, [asked.isPending, asked.data, isNew]);
  if (isNew === undefined) return <SkeletonRows />;
  if (!isNew) return <ChatPage />;
  return (
    <Suspense fallback={<SkeletonRows />}>
      <WelcomePage />
    </Suspense>
  );
}
