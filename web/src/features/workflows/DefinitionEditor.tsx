/** The text of a definition in CodeMirror, with what is wrong beside it; loaded when one is first opened. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { type RefObject, useEffect, useRef } from "react";
import { colours, look } from "@/shared/ui/editorLook";
import { problemLook, problemMarks, setProblems } from "./problemMarks";
import type { Problem } from "./queries";
import { yaml, yamlIndent } from "./yaml";

interface DefinitionEditorProps {
  text: string;
  problems: readonly Problem[];
  onChange: (text: string) => void;
  onSave: () => void;
  /** Filled with a function that goes to a line. */
  goTo: RefObject<((line: number, column: number) => void) | null>;
}

const fromElsewhere = Annotation.define<boolean>();

export default function DefinitionEditor({ text, problems, onChange, onSave, goTo }: DefinitionEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const now = useRef({ onChange, onSave });
  now.current = { onChange, onSave };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text is put in below, without a new editor
  useEffect(() => {
    const made = new EditorView({ parent: place.current as HTMLElement, state: stateOf(text, now) });
    view.current = made;
    goTo.current = (line, column) => {
      const at = made.state.doc.line(Math.min(Math.max(1, line), made.state.doc.lines));
      made.dispatch({
        selection: { anchor: Math.min(at.to, at.from + Math.max(0, column - 1)) },
        effects: EditorView.scrollIntoView(at.from, { y: "center" }),
      });
      made.focus();
    };
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = view.current;
    if (!made || made.state.doc.toString() === text) return;
    const changes = { from: 0, to: made.state.doc.length, insert: text };
    made.dispatch({ changes, annotations: fromElsewhere.of(true) });
  }, [text]);
  useEffect(() => view.current?.dispatch({ effects: setProblems.of(problems) }), [problems]);
  return <div ref={place} className="h-full min-h-0" />;
}

type Now = RefObject<{ onChange: (text: string) => void; onSave: () => void }>;

function stateOf(text: string, now: Now): EditorState {
  const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
  const save = () => {
    now.current.onSave();
    return true;
  };
  return EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({ "aria-label": "Definition", tabindex: "0" }),
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      indentUnit.of("  "),
      bracketMatching(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      yaml,
      yamlIndent,
      syntaxHighlighting(colours),
      look,
      problemMarks,
      problemLook,
      keymap.of([{ key: "Mod-s", run: save }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.updateListener.of((update) => {
        const typed = !update.transactions.some((one) => one.annotation(fromElsewhere));
        if (update.docChanged && typed) now.current.onChange(update.state.doc.toString());
      }),
    ],
  });
}
