/** The text of a file in CodeMirror; loaded when a file is first opened. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { Annotation, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { colours, look } from "@/shared/ui/editorLook";
import { languageOf } from "./languages";

interface EditorProps {
  /** Whose file it is decides about its colours. */
  path: string;
  /** As it is kept; what is typed over it is told by `onChange`. */
  text: string;
  onChange: (text: string) => void;
  onSave: () => void;
}

const fromElsewhere = Annotation.define<boolean>();

export default function Editor({ path, text, onChange, onSave }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const shown = useRef(text);
  const now = useRef({ onChange, onSave });
  now.current = { onChange, onSave };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text is put in below, without a new editor
  useEffect(() => {
    const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
    const save = () => {
      now.current.onSave();
      return true;
    };
    const made = new EditorView({
      parent: place.current as HTMLElement,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          EditorView.contentAttributes.of({ "aria-label": `Content of ${path}` }),
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          languageOf(path),
          syntaxHighlighting(colours),
          look,
          keymap.of([{ key: "Mod-s", run: save }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => {
            const typed = !update.transactions.some((one) => one.annotation(fromElsewhere));
            if (update.docChanged && typed) now.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [path]);
  useEffect(() => {
    const made = view.current;
    const before = shown.current;
    shown.current = text;
    const now = made?.state.doc.toString();
    // What a person has typed stays, whatever is written elsewhere.
    if (!made || now === text || now !== before) return;
    const changes = { from: 0, to: made.state.doc.length, insert: text };
    made.dispatch({ changes, annotations: fromElsewhere.of(true) });
  }, [text]);
  return <div ref={place} className="h-full min-h-0" />;
}
