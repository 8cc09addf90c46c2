/** Files that go with the next message: chosen, dropped or pasted. */
import { useCallback, useState } from "react";
import { formatBytes } from "@/shared/format/format";
import { toast } from "@/shared/ui/Toast";
import { type Attached, readFile } from "./actions";

const MOST_BYTES = 20_000_000;
const MOST_FILES = 20;
/** Browsers take minutes to put a text of many lines into a field: from here on it becomes a file. */
const LONG_PASTE = 20_000;

export function useAttached() {
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [over, setOver] = useState(false);
  const add = useCallback(async (chosen: readonly File[]) => {
    for (const file of chosen.slice(0, MOST_FILES)) {
      if (file.size > MOST_BYTES) {
        toast.error(
          new Error(
            `${file.name} has ${formatBytes(file.size)}; up to ${formatBytes(MOST_BYTES)} are taken.`,
          ),
        );
        continue;
      }
      try {
        const read = await readFile(file);
        setFiles((known) => [...known, read].slice(0, MOST_FILES));
      } catch (error) {
        toast.error(error);
      }
    }
  }, []);
  const choose = () => {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.onchange = () => void add([...(input.files ?? [])]);
    input.click();
  };
  return {
    files,
    over,
    choose,
    clear: () => setFiles([]),
    put: (back: readonly Attached[]) => setFiles(back),
    remove: (place: number) => setFiles((known) => known.filter((_, index) => index !== place)),
    onPaste: (event: React.ClipboardEvent) => {
      const pasted = [...event.clipboardData.files];
      const text = event.clipboardData.getData("text/plain");
      if (pasted.length === 0 && text.length > LONG_PASTE)
        pasted.push(new File([text], "Pasted text.txt", { type: "text/plain" }));
      if (pasted.length === 0) return;
      event.preventDefault();
      void add(pasted);
    },
    dropZone: {
      onDragOver: (event: React.DragEvent) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: React.DragEvent) => {
        event.preventDefault();
        setOver(false);
        void add([...event.dataTransfer.files]);
      },
    },
  };
}
