// Writes src/shared/api/schema.d.ts from the daemon's own description of its API; no daemon has to run.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const root = new URL("../../", import.meta.url).pathname;
const own = [".venv/bin/python", ".venv/Scripts/python.exe"].map((path) => root + path).find(existsSync);
const python = process.env.MANYHANDS_PYTHON ?? own ?? "python3";
const described = execFileSync(python, ["-m", "manyhands.api.description"], {
  encoding: "utf8",
  maxBuffer: 1 << 26,
});
const target = new URL("../src/shared/api/schema.d.ts", import.meta.url);
const types = await openapiTS(JSON.parse(described), { defaultNonNullable: false, rootTypes: false });
const text = `// Made by \`npm run api\` from the OpenAPI description; do not edit.\n${astToString(types)}`;
if (!existsSync(target) || readFileSync(target, "utf8") !== text) writeFileSync(target, text);
