// Preloaded into a server: notes in the file WITNESS which of its requests were aborted, and for what reason.
const { appendFileSync } = require("node:fs");

const abort = AbortController.prototype.abort;
AbortController.prototype.abort = function (reason) {
  if (typeof reason === "string") appendFileSync(process.env.WITNESS, `${reason}\n`);
  return abort.call(this, reason);
};
