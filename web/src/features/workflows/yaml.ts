/** How a definition is coloured: YAML with templates in it, line by line. JSON is YAML, too. */
import { indentService, StreamLanguage } from "@codemirror/language";

interface State {
  template: boolean;
}

export const yaml = StreamLanguage.define<State>({
  startState: () => ({ template: false }),
  token(stream, state) {
    if (state.template) {
      if (stream.match(/^(\}\}|%\})/)) {
        state.template = false;
        return "keyword";
      }
      if (stream.match(/^(?:"[^"]*"|'[^']*')/)) return "string";
      if (stream.match(/^\d+(?:\.\d+)?/)) return "number";
      if (stream.match(/^[\w.]+/)) return "keyword";
      stream.next();
      return null;
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^(\{\{|\{%)/)) {
      state.template = true;
      return "keyword";
    }
    if (stream.peek() === "#" && (stream.pos === 0 || /\s/.test(stream.string[stream.pos - 1] ?? ""))) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^"?[A-Za-z_][\w-]*"?(?=\s*:(?:\s|$))/)) return "propertyName";
    if (stream.match(/^(?:"(?:[^"\\{]|\\.|\{(?!\{))*"|'(?:[^'{]|\{(?!\{))*')/)) return "string";
    if (stream.match(/^(?:true|false|null)\b/)) return "number";
    if (stream.match(/^\d+(?:\.\d+)?(?=[\s,\]}]|$)/)) return "number";
    if (stream.match(/^[^\s{}"'#]+/)) return null;
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});

/** A new line begins where the last one did, or further in after `- ` and after a name that opens a block. */
export const yamlIndent = indentService.of((context, pos) => {
  const { text } = context.lineAt(pos, -1);
  const lead = text.length - text.trimStart().length;
  const item = /^\s*- \S/.test(text) ? 2 : 0;
  const opens = /:\s*[|>]?-?\s*$/.test(text) ? 2 : 0;
  return lead + item + opens;
});
