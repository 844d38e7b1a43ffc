/** A PDF by pdf.js: nothing in it runs, links or loads anything; only its pages and their text are asked for. */

import {
  GlobalWorkerOptions,
  getDocument,
  PDFDataRangeTransport,
  type PDFDocumentLoadingTask,
  type PDFDocumentProxy,
  type PDFPageProxy,
  type RenderTask,
  TextLayer,
} from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import type { LinkedFile } from "./file.ts";
import { placedRuns, type TextItem } from "./geometry.ts";
import type { PageLayer } from "./highlight.ts";

GlobalWorkerOptions.workerSrc = workerUrl;

/** Bytes of one request. */
const CHUNK = 256 * 1024;
/** The most pixels of a page: a browser refuses larger canvases, phones sooner. */
const MOST_PIXELS = 16_000_000;
/** The most pixels of a picture in a page. */
const MOST_IMAGE_PIXELS = 64_000_000;
const MEASURED_SIZE = 30;
/** Pages whose text is kept, because marks and searches ask for it again. */
const KEPT_LAYERS = 64;

export interface PageSize {
  width: number;
  height: number;
}

/** An opened PDF. */
export class PdfFile {
  readonly #task: PDFDocumentLoadingTask;
  readonly #document: PDFDocumentProxy;
  readonly #layers = new Map<number, Promise<PageLayer>>();

  private constructor(task: PDFDocumentLoadingTask, document: PDFDocumentProxy) {
    this.#task = task;
    this.#document = document;
  }

  /** Opens a file; `onFailure` is told if a later range of it cannot be read. */
  static async open(file: LinkedFile, onFailure: (error: unknown) => void): Promise<PdfFile> {
    const { bytes, length } = await file.beginning();
    const isWhole = bytes.length >= length;
    const pdfjs = new URL("pdfjs/", document.baseURI).href;
    const task = getDocument({
      ...(isWhole ? { data: bytes } : { range: new Ranges(file, length, bytes, onFailure) }),
      rangeChunkSize: CHUNK,
      disableAutoFetch: true,
      disableStream: true,
      disableWorkerRendering: true,
      enableXfa: false,
      useWasm: false, // no 'wasm-unsafe-eval' in the Content-Security-Policy
      maxImageSize: MOST_IMAGE_PIXELS,
      cMapUrl: `${pdfjs}cmaps/`,
      standardFontDataUrl: `${pdfjs}standard_fonts/`,
      wasmUrl: `${pdfjs}wasm/`,
      verbosity: 0,
    });
    try {
      return new PdfFile(task, await task.promise);
    } catch (error) {
      void task.destroy();
      throw error;
    }
  }

  get pageCount(): number {
    return this.#document.numPages;
  }

  /** Returns the size of a page as it is shown, in points. */
  async size(page: number): Promise<PageSize> {
    const { width, height } = (await this.#document.getPage(page)).getViewport({ scale: 1 });
    return { width, height };
  }

  /** Returns the text of a page with its places; null if there is no such page. */
  async layer(page: number): Promise<PageLayer | null> {
    if (page < 1 || page > this.pageCount) return null;
    let layer = this.#layers.get(page);
    if (!layer) {
      layer = this.#document.getPage(page).then((proxy) => layerOf(proxy, page));
      this.#layers.set(page, layer);
      const [oldest] = this.#layers.keys();
      if (oldest !== undefined && this.#layers.size > KEPT_LAYERS) this.#layers.delete(oldest);
    }
    return layer;
  }

  /** Draws a page `width` pixels wide, and its text to be selected; the returned function gives that up. */
  draw(page: number, width: number, canvas: HTMLCanvasElement, text: HTMLElement): Drawing {
    return new Drawing(this.#document.getPage(page), width, canvas, text);
  }

  close(): void {
    void this.#task.destroy();
  }
}

/** A page being drawn. */
export class Drawing {
  /** Whether the page was drawn; false if that was given up. */
  readonly done: Promise<boolean>;
  #task: RenderTask | undefined;
  #isGivenUp = false;

  constructor(page: Promise<PDFPageProxy>, width: number, canvas: HTMLCanvasElement, text: HTMLElement) {
    this.done = this.#draw(page, width, canvas, text).catch((error: unknown) => {
      if (this.#isGivenUp) return false;
      throw error;
    });
  }

  giveUp(): void {
    this.#isGivenUp = true;
    this.#task?.cancel();
  }

  async #draw(
    proxy: Promise<PDFPageProxy>,
    width: number,
    canvas: HTMLCanvasElement,
    text: HTMLElement,
  ): Promise<boolean> {
    const page = await proxy;
    const natural = page.getViewport({ scale: 1 });
    const wanted = (width / natural.width) * (globalThis.devicePixelRatio || 1);
    const most = Math.sqrt(MOST_PIXELS / (natural.width * natural.height));
    const viewport = page.getViewport({ scale: Math.min(wanted, most) });
    if (this.#isGivenUp) return false;
    const drawn = document.createElement("canvas"); // the shown one keeps its picture meanwhile
    drawn.width = Math.ceil(viewport.width);
    drawn.height = Math.ceil(viewport.height);
    this.#task = page.render({ canvas: drawn, viewport });
    await this.#task.promise;
    if (this.#isGivenUp) return false;
    canvas.width = drawn.width;
    canvas.height = drawn.height;
    canvas.getContext("2d")?.drawImage(drawn, 0, 0);
    if (text.childElementCount === 0) {
      await new TextLayer({
        textContentSource: await page.getTextContent(),
        container: text,
        viewport: natural,
      }).render();
    }
    return true;
  }
}

class Ranges extends PDFDataRangeTransport {
  readonly #file: LinkedFile;
  readonly #onFailure: (error: unknown) => void;

  constructor(file: LinkedFile, length: number, bytes: Uint8Array, onFailure: (error: unknown) => void) {
    super(length, bytes);
    this.#file = file;
    this.#onFailure = onFailure;
  }

  override requestDataRange(begin: number, end: number): void {
    this.#file.range(begin, end).then((bytes) => this.onDataRange(begin, bytes), this.#onFailure);
  }
}

let context: OffscreenCanvasRenderingContext2D | null | undefined;

function measured(text: string, fontFamily: string): number {
  context ??= new OffscreenCanvas(1, 1).getContext("2d");
  if (!context) return text.length;
  const font = `${MEASURED_SIZE}px ${fontFamily}`;
  if (context.font !== font) context.font = font;
  return context.measureText(text).width;
}

async function layerOf(proxy: PDFPageProxy, page: number): Promise<PageLayer> {
  const viewport = proxy.getViewport({ scale: 1 });
  const content = await proxy.getTextContent();
  const items = content.items.filter((item): item is TextItem & typeof item => "str" in item);
  const runs = placedRuns(items, content.styles, viewport.transform, measured);
  return { page, width: viewport.width, height: viewport.height, runs };
}
