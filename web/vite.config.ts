import { readdirSync, readFileSync } from "node:fs";
import { defineConfig, type Plugin, type PreviewServer, type ViteDevServer } from "vite";

/**
 * Serves `/config.json` while developing: the API at `RECTO_API`, and `RECTO_TOKEN` for signing in without a provider.
 * The built page never has one of its own: whoever serves it writes it.
 */
function developmentConfig(): Plugin {
  const body = JSON.stringify({
    api: process.env.RECTO_API ?? "http://127.0.0.1:8082",
    sign_in: process.env.RECTO_SIGN_IN ? JSON.parse(process.env.RECTO_SIGN_IN) : null,
    token: process.env.RECTO_TOKEN ?? "",
  });
  const serve = (server: Pick<ViteDevServer | PreviewServer, "middlewares">) => {
    server.middlewares.use("/config.json", (_request, response) => {
      response.setHeader("content-type", "application/json").end(body);
    });
  };
  return { name: "development-config", configureServer: serve, configurePreviewServer: serve };
}

const PDFJS = "node_modules/pdfjs-dist";
/** What pdf.js fetches for files that need it: character maps, fonts that a file may leave out, decoders of pictures. */
const PDFJS_FILES: Record<string, RegExp> = {
  cmaps: /./,
  standard_fonts: /./,
  wasm: /nowasm|LICENSE_(?!QCMS|QUICKJS)/,
};

/** Puts what pdf.js fetches under `pdfjs/`. */
function pdfjsFiles(): Plugin {
  const names = Object.entries(PDFJS_FILES).flatMap(([folder, wanted]) =>
    readdirSync(`${PDFJS}/${folder}`)
      .filter((name) => wanted.test(name))
      .map((name) => `${folder}/${name}`),
  );
  return {
    name: "pdfjs-files",
    generateBundle() {
      for (const name of names) {
        this.emitFile({ type: "asset", fileName: `pdfjs/${name}`, source: readFileSync(`${PDFJS}/${name}`) });
      }
    },
    configureServer(server) {
      server.middlewares.use("/pdfjs/", (request, response, next) => {
        const name = (request.url ?? "").slice(1);
        if (!names.includes(name)) return next();
        if (name.endsWith(".js")) response.setHeader("content-type", "text/javascript");
        response.end(readFileSync(`${PDFJS}/${name}`));
      });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [developmentConfig(), pdfjsFiles()],
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
  worker: { format: "es" },
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"], // they know light-dark()
    assetsInlineLimit: 0, // a data: address would need a hole in the Content-Security-Policy
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
});
