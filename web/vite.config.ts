/// <reference types="vitest/config" />
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The daemon to which `npm run dev` passes what is not the UI itself.
const daemon = process.env.MANYHANDS_URL ?? "http://127.0.0.1:8222";
const token = process.env.MANYHANDS_TOKEN;
const proxy = {
  target: daemon,
  changeOrigin: true,
  ws: true,
  // A development server is another origin; the token speaks for the page instead of the cookie.
  headers: { origin: daemon, ...(token ? { authorization: `Bearer ${token}` } : {}) },
};

// Heavy libraries, and what is of use with one of them alone, stay apart with the parts that need them.
const HEAVY =
  /node_modules[\\/](?:echarts|zrender|@xyflow|d3-|@codemirror|@lezer|@marijn|style-mod|crelt|w3c-keyname|micromark|mdast|remark|react-markdown|unified|hast|vfile|unist)|shared[\\/]ui[\\/]editorLook/;
const isLight = (id: string): boolean => !HEAVY.test(id);

const ENTRY = new URL("./src/main.tsx", import.meta.url).pathname;
type Modules = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };

/** Whether the first screen needs a module: the entry imports it, and not only once a page is opened. */
const isFirst = (() => {
  const first = new Set<string>();
  return (id: string, modules: Modules): boolean => {
    const todo = first.size === 0 ? [ENTRY] : [];
    for (const one of todo) {
      if (first.has(one)) continue;
      first.add(one);
      todo.push(...(modules.getModuleInfo(one)?.importedIds ?? []));
    }
    return first.has(id);
  };
})();

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  // The daemon puts a new nonce here with every page: styles that components add carry it.
  html: { cspNonce: "MANYHANDS_NONCE" },
  server: { port: 5173, proxy: { "/api": proxy, "/v1": proxy, "/assets": proxy } },
  build: {
    outDir: "../src/manyhands/api/ui",
    emptyOutDir: true,
    assetsDir: "ui",
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
    rolldownOptions: {
      output: {
        entryFileNames: "ui/[name]-[hash].js",
        // What is shared is one file, and another one for what pages share that the first screen does not need:
        // dozens of small ones are dozens of requests before anything is seen.
        codeSplitting: {
          groups: [
            {
              name: (id, modules) => (isFirst(id, modules) ? "shared" : null),
              debugName: "shared",
              test: isLight,
              minShareCount: 2,
              priority: 1,
            },
            {
              name: (id, modules) => (isFirst(id, modules) ? null : "pages"),
              debugName: "pages",
              test: isLight,
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  test: {
    environment: "jsdom",
    pool: "vmThreads",
    maxWorkers: 2,
    setupFiles: ["./src/test-setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
