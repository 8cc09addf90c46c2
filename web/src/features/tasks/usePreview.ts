import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type FieldErrors, fieldErrors } from "./draft";
import { type Preview, previewOf, type WantedSchedule } from "./queries";

const PAUSE = 250;

/** A value as it was when it last stood still for a moment. */
export function useSettled<T>(value: T, pause: number): T {
  const key = JSON.stringify(value);
  const [settled, setSettled] = useState({ key, value });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all about the value
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ key, value }), pause);
    return () => clearTimeout(timer);
  }, [key, pause]);
  return settled.value;
}

export interface Previewed {
  preview: Preview | undefined;
  errors: FieldErrors;
  isPending: boolean;
}

/** What the schedule in the form means, asked of the hub while it is typed. */
export function usePreview(wanted: WantedSchedule): Previewed {
  const settled = useSettled(wanted, PAUSE);
  const wants = settled.type !== "manual" && Boolean(settled.schedule);
  const found = useQuery({ ...previewOf(settled), enabled: wants, placeholderData: keepPreviousData });
  const errors = wants && found.isError ? fieldErrors(found.error) : {};
  return {
    preview: wants && !found.isError ? found.data : undefined,
    errors,
    isPending: wants && found.isPending,
  };
}
