import { api, read } from "@/shared/api/client";
import { toast } from "@/shared/ui/Toast";

/** Ask for a file that was exported, and make a channel of it. */
export function importConversation(onDone: (channelId: string) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = "application/json,.json";
  input.onchange = async () => {
    const file = input.files?.[0];
    if (file === undefined) return;
    try {
      const channel = await read(api.POST("/api/channels/import", { body: JSON.parse(await file.text()) }));
      toast(`Imported “${channel.name}”`);
      onDone(channel.id);
    } catch (error) {
      toast.error(
        error instanceof SyntaxError ? new Error(`${file.name} is not JSON: ${error.message}`) : error,
      );
    }
  };
  input.click();
}
