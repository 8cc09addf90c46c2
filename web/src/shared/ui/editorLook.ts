/** How CodeMirror looks here; only for what is loaded late. */
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent-ink)" },
  { tag: tags.string, color: "var(--good-ink)" },
  { tag: tags.number, color: "var(--busy-ink)" },
  { tag: tags.propertyName, color: "var(--warn-ink)" },
  { tag: tags.comment, color: "var(--ink-faint)" },
]);

export const look = EditorView.theme({
  "&": {
    fontSize: "13px",
    height: "100%",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
  },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--ink-faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
});
