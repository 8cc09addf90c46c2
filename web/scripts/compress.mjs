// Puts a .br and a .gz beside every file that gets smaller by it, so that the daemon only has to send them.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const out = new URL("../../src/manyhands/api/ui/", import.meta.url).pathname;
const files = readdirSync(out, { recursive: true })
  .map((name) => join(out, name))
  .filter((path) => statSync(path).isFile() && /\.(js|css|svg|json)$/.test(path));
for (const path of files) {
  const bytes = readFileSync(path);
  if (bytes.length < 1024) continue;
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}
