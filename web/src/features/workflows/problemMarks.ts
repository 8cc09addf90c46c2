/** What is wrong with a text, at the line where it is. */
import { type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Problem } from "./queries";

export const setProblems = StateEffect.define<readonly Problem[]>();

class Said extends WidgetType {
  constructor(
    readonly text: string,
    readonly severity: string,
  ) {
    super();
  }
  override eq(other: Said): boolean {
    return other.text === this.text && other.severity === this.severity;
  }
  toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = `cm-said cm-said-${this.severity}`;
    element.textContent = this.text;
    return element;
  }
}

export const problemMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects)
      if (effect.is(setProblems)) next = marksOf(effect.value, transaction.state.doc);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

type Text = { lines: number; line: (number: number) => { from: number; to: number } };

function marksOf(problems: readonly Problem[], doc: Text): DecorationSet {
  const byLine = Map.groupBy(
    problems.filter((one) => one.line != null),
    (one) => Math.min(Math.max(1, one.line as number), doc.lines),
  );
  const marks: Range<Decoration>[] = [];
  for (const [number, list] of byLine) {
    const line = doc.line(number);
    const severity = list.some((one) => one.severity === "error") ? "error" : "warning";
    const text = list.map((one) => one.message).join(" ");
    marks.push(Decoration.line({ class: `cm-wrong cm-wrong-${severity}` }).range(line.from));
    marks.push(Decoration.widget({ widget: new Said(text, severity), side: 1 }).range(line.to));
  }
  return Decoration.set(marks, true);
}

export const problemLook = EditorView.theme({
  ".cm-wrong-error": { backgroundColor: "var(--bad-soft)" },
  ".cm-wrong-warning": { backgroundColor: "var(--warn-soft)" },
  ".cm-said": {
    marginLeft: "1.5em",
    fontFamily: "var(--font-sans)",
    fontSize: "12px",
    whiteSpace: "normal",
  },
  ".cm-said-error": { color: "var(--bad-ink)" },
  ".cm-said-warning": { color: "var(--warn-ink)" },
});
