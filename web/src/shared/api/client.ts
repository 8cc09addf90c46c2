/** The API, typed by its own description. Every call goes through here; an error is always an `ApiError`. */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** What went wrong, in words for a person, and what to do next. */
export class ApiError extends Error {
  override name = "ApiError";
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly hint: string | null = null,
    readonly problem: Record<string, unknown> = {},
  ) {
    super(message);
  }
  /** The daemon could not be reached at all. */
  get isGone(): boolean {
    return this.code === "unreachable";
  }
}

type Watch = (error: ApiError) => void;
const watchers = new Set<Watch>();
/** Be told of every failed request; answers how to stop. */
export function onApiError(watch: Watch): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

let ready: Promise<unknown> = Promise.resolve();
/** Requests wait for this first: once events flow, nothing between an answer and an event can be missed. */
export function waitBeforeRequests(until: Promise<unknown>): void {
  ready = until;
}

async function send(request: Request): Promise<Response> {
  await ready;
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw told(new ApiError("The hub cannot be reached.", 0, "unreachable", "Is `manyhands up` running?"));
  }
}

export const api = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "", fetch: send });

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The data of an answer; throws `ApiError` otherwise. `await read(api.GET("/api/servers"))` */
export async function read<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  throw told(asError(error, response.status));
}

function told(error: ApiError): ApiError {
  for (const watch of watchers) watch(error);
  return error;
}

function asError(body: unknown, status: number): ApiError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string): string | null =>
    typeof problem[name] === "string" ? (problem[name] as string) : null;
  const detail = text("detail") ?? text("title") ?? `The hub answered ${status}.`;
  return new ApiError(detail, status, text("code") ?? "error", text("hint"), problem);
}

/** All pages of a list, at most `most` entries. */
export async function readAll<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor?: string | null }>,
  most = 5000,
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const answer = await page(cursor);
    found.push(...answer.items);
    cursor = answer.next_cursor ?? undefined;
  } while (cursor !== undefined && found.length < most);
  return found;
}
