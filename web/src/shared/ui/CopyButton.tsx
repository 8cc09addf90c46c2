import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./IconButton";

/** Puts a text on the clipboard and says so. */
export function CopyButton({
  text,
  label = "Copy",
  className,
}: {
  text: string | (() => string);
  label?: string;
  className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
    setCopied(true);
  };
  return (
    <IconButton
      size="sm"
      label={copied ? "Copied" : label}
      icon={copied ? <Check className="text-good" /> : <Copy />}
      onClick={() => void copy()}
      className={className}
    />
  );
}
