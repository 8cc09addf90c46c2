// Collects what a page writes to its console and the errors it runs into, and posts it to where the page came from.
(() => {
  const address = document.currentScript.src.replace(/console\.js.*$/, "console");
  const base = address.slice(0, -"__manyhands/console".length);
  const post = window.fetch.bind(window);
  const later = window.setTimeout.bind(window);
  const MOST = 100, LONGEST = 2000, EVERY_MS = 100;
  let waiting = [], dropped = 0, planned = false;

  const say = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof Error) return withStack(value);
      if (value instanceof Element) return value.outerHTML;
      return JSON.stringify(value) ?? String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  };
  const withStack = (error) => {
    const text = String(error), stack = String(error.stack ?? "");
    return stack.includes(error.message) ? stack : stack ? `${text}\n${stack}` : text;
  };
  const send = () => {
    planned = false;
    if (dropped) waiting.push({ level: "warn", text: `${dropped} more lines were left out` });
    const body = JSON.stringify(waiting);
    waiting = [];
    dropped = 0;
    post(address, { method: "POST", body: body.slice(0, 60000) === body ? body : "[]", keepalive: true }).catch(() => {});
  };
  const note = (level, text) => {
    if (waiting.length >= MOST) dropped += 1;
    else waiting.push({ level, text: text.replaceAll(base, "").slice(0, LONGEST) });
    if (!planned) {
      planned = true;
      later(send, EVERY_MS);
    }
  };

  for (const level of ["debug", "log", "info", "warn", "error"]) {
    const write = console[level].bind(console);
    console[level] = (...values) => {
      write(...values);
      note(level, values.map(say).join(" "));
    };
  }
  window.addEventListener("error", (event) => {
    const from = event.target;
    if (from instanceof Element) note("error", `Could not load ${from.src ?? from.href ?? from.tagName}`);
    else note("error", event.error ? say(event.error) : `${event.message} (${event.filename}:${event.lineno})`);
  }, true);
  window.addEventListener("unhandledrejection", (event) => note("error", `Unhandled rejection: ${say(event.reason)}`));
  document.addEventListener("securitypolicyviolation", (event) => {
    note("error", `Refused by the policy of playgrounds: ${event.blockedURI} (${event.effectiveDirective})`);
  });
  window.addEventListener("pagehide", () => waiting.length && send());
  note("info", "opened");
})();
