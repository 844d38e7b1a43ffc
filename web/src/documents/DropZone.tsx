import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../i18n/documents.ts";
import { Icon } from "../ui/Icon.tsx";
import { toast } from "../ui/toast.ts";
import css from "./DropZone.module.css";
import { droppedFiles } from "./dropping.ts";
import { uploads } from "./uploading.ts";

/** A view that files can be dropped on: while they are over it, it says so. */
export function DropZone({ children }: { children: ComponentChildren }) {
  const [over, setOver] = useState(false);
  const depth = useRef(0); // each element within tells of entering and leaving
  const enter = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    depth.current += 1;
    setOver(true);
  };
  const leave = () => {
    depth.current = Math.max(0, depth.current - 1);
    if (depth.current === 0) setOver(false);
  };
  const drop = async (event: DragEvent) => {
    const { dataTransfer } = event;
    if (!dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    const files = await droppedFiles(dataTransfer);
    if (files.length === 0) toast(t("nothing_dropped"));
    await uploads.add(files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut of the upload button
    <div
      class={css.zone}
      onDragEnter={enter}
      onDragOver={(event) => event.dataTransfer?.types.includes("Files") && event.preventDefault()}
      onDragLeave={leave}
      onDrop={(event) => void drop(event)}
    >
      {children}
      {over && (
        <div class={css.cover} aria-hidden="true">
          <div class={css.words}>
            <Icon name="upload" size={28} />
            {t("drop_here")}
          </div>
        </div>
      )}
    </div>
  );
}
