import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/viewer.ts";
import { classes } from "../ui/classes.ts";
import type { Box } from "./geometry.ts";
import css from "./PdfPage.module.css";
import type { PdfFile } from "./pdf.ts";

interface Props {
  file: PdfFile;
  number: number;
  width: number;
  height: number;
  /** CSS pixels of a point. */
  scale: number;
  isNear: boolean;
  observe: (element: Element) => void;
  marks: readonly Box[];
  hits: readonly Box[];
  hit: readonly Box[];
}

/** One page: its picture, what is marked on it, and its text to be selected and read aloud. */
export function PdfPage({ file, number, width, height, scale, isNear, observe, marks, hits, hit }: Props) {
  const page = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"waiting" | "drawn" | "failed">("waiting");
  useEffect(() => {
    if (page.current) observe(page.current);
  }, [observe]);
  useEffect(() => page.current?.style.setProperty("--total-scale-factor", String(scale)), [scale]);
  useEffect(() => {
    if (!isNear || !canvas.current || !text.current) return;
    const drawing = file.draw(number, width, canvas.current, text.current);
    drawing.done.then(
      (isDrawn) => isDrawn && setState("drawn"),
      () => setState("failed"),
    );
    return () => drawing.giveUp();
  }, [file, number, width, isNear]);
  useEffect(() => {
    if (isNear || !canvas.current || !text.current) return;
    canvas.current.width = 0; // gives its memory back
    text.current.replaceChildren();
    setState("waiting");
  }, [isNear]);
  return (
    <section
      ref={page}
      aria-label={t("page", number)}
      class={css.page}
      data-page={number}
      data-state={state}
      style={{ width: `${width}px`, height: `${height}px` }}
    >
      <canvas ref={canvas} class={css.canvas} />
      <div class={css.marks} aria-hidden="true">
        {hits.map((box, at) => (
          <div key={at} class={css.hit} style={placed(box)} />
        ))}
        {hit.map((box, at) => (
          <div key={at} class={classes(css.hit, css.current)} style={placed(box)} />
        ))}
        {marks.map((box, at) => (
          <div key={at} class={css.mark} data-mark style={placed(box)} />
        ))}
      </div>
      <div ref={text} class={css.text} />
      {state === "failed" && <p class={css.failed}>{t("page_failed", number)}</p>}
    </section>
  );
}

function placed({ x0, y0, x1, y1 }: Box) {
  const percent = (share: number) => `${(100 * share).toFixed(4)}%`;
  return { left: percent(x0), top: percent(y0), width: percent(x1 - x0), height: percent(y1 - y0) };
}
