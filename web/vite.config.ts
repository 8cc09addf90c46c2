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

// Heavy libraries stay apart, with the one part that needs each.
const SHARED =
  /^(?!.*node_modules[\\/](?:echarts|zrender|@xyflow|d3-|@codemirror|@lezer|micromark|mdast|remark|react-markdown|unified|hast|vfile|unist))/;

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
        // What pages share is one file: dozens of small ones are dozens of requests before anything is seen.
        codeSplitting: { groups: [{ name: "shared", minShareCount: 2, test: SHARED }] },
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
