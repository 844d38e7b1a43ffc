import { defineConfig } from "vite";

/** The widget: one classic script, beside the page's files. */
export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    emptyOutDir: false,
    lib: { entry: "widget/main.tsx", name: "recto", formats: ["iife"], fileName: () => "widget.js" },
  },
});
