/** How the languages of pages are coloured: by the line, good enough for reading small files. */
import { StreamLanguage, type StreamParser } from "@codemirror/language";

interface State {
  /** What ends the comment or the text that is open. */
  until: string | null;
}

const KEYWORDS =
  /^(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|let|new|null|of|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|yield)\b/;

type Stream = Parameters<StreamParser<State>["token"]>[0];

/** Go on to the end of what is open, or of the line. */
function close(stream: Stream, state: State, kind: string): string {
  const end = state.until as string;
  while (!stream.eol()) {
    if (end !== "-->" && end !== "*/" && stream.peek() === "\\") {
      stream.next();
      stream.next();
    } else if (stream.match(end)) {
      state.until = null;
      return kind;
    } else stream.next();
  }
  // Only comments and templates go over several lines.
  if (end === '"' || end === "'") state.until = null;
  return kind;
}

function open(stream: Stream, state: State, until: string, kind: string): string {
  state.until = until;
  return close(stream, state, kind);
}

const kindOf = (until: string): string => (until === "*/" || until === "-->" ? "comment" : "string");

const parser = (token: (stream: Stream, state: State) => string | null): StreamParser<State> => ({
  startState: () => ({ until: null }),
  token(stream, state) {
    if (state.until !== null) return close(stream, state, kindOf(state.until));
    if (stream.eatSpace()) return null;
    return token(stream, state);
  },
});

const script = parser((stream, state) => {
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) return open(stream, state, "*/", "comment");
  const quote = stream.match(/^["'`]/) as RegExpMatchArray | null;
  if (quote) return open(stream, state, quote[0], "string");
  if (stream.match(KEYWORDS)) return "keyword";
  if (stream.match(/^\d[\d._a-fxn]*/i)) return "number";
  if (stream.match(/^[\w$]+/)) return null;
  stream.next();
  return null;
});

const style = parser((stream, state) => {
  if (stream.match("/*")) return open(stream, state, "*/", "comment");
  const quote = stream.match(/^["']/) as RegExpMatchArray | null;
  if (quote) return open(stream, state, quote[0], "string");
  if (stream.match(/^@[\w-]+/)) return "keyword";
  if (stream.match(/^[\w-]+(?=\s*:\s*[^:\s])/)) return "propertyName";
  if (stream.match(/^#[\da-f]{3,8}\b/i) || stream.match(/^-?\d[\d.]*[a-z%]*/i)) return "number";
  if (stream.match(/^[\w-]+/)) return null;
  stream.next();
  return null;
});

const markup = parser((stream, state) => {
  if (stream.match("<!--")) return open(stream, state, "-->", "comment");
  if (stream.match(/^<\/?[\w!-]+/) || stream.match(/^\/?>/)) return "keyword";
  if (stream.match(/^[\w:-]+(?==)/)) return "propertyName";
  const quote = stream.match(/^"(?=[^"]*")/) as RegExpMatchArray | null;
  if (quote) return open(stream, state, '"', "string");
  if (stream.match(/^[^<>"=\s]+/)) return null;
  stream.next();
  return null;
});

const LANGUAGES: Record<string, StreamParser<State>> = {
  js: script,
  mjs: script,
  ts: script,
  json: script,
  css: style,
  html: markup,
  htm: markup,
  svg: markup,
  xml: markup,
};

export function languageOf(path: string) {
  const found = LANGUAGES[path.split(".").pop()?.toLowerCase() ?? ""];
  return found ? [StreamLanguage.define(found)] : [];
}
