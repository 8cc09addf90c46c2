import { useCallback, useState } from "react";
import { type Trial, testModel } from "./queries";

export interface Test {
  isPending: boolean;
  trial?: Trial;
  error?: unknown;
}

/** Tests of models, each with how it went; a new test of the same model takes the place of the old one. */
export function useTests() {
  const [tests, setTests] = useState<Record<string, Test>>({});
  const run = useCallback(async (id: string) => {
    const put = (test: Test) => setTests((before) => ({ ...before, [id]: test }));
    put({ isPending: true });
    try {
      put({ isPending: false, trial: await testModel(id) });
    } catch (error) {
      put({ isPending: false, error });
    }
  }, []);
  return { tests, run };
}
