import { useRef } from "preact/hooks";
import { t } from "../i18n/documents.ts";
import { Button } from "../ui/Button.tsx";
import { chosenFiles, type NamedFile } from "./dropping.ts";
import { uploads } from "./uploading.ts";

/** Opens the dialog for choosing PDFs, or a folder of them. */
export function UploadButton(props: { folder?: boolean; kind?: "primary" | "secondary" | "quiet" }) {
  return (
    <ChooseFiles
      folder={props.folder ?? false}
      multiple
      kind={props.kind ?? "primary"}
      onChosen={(files) => void uploads.add(files)}
    >
      {t(props.folder ? "upload_folder" : "upload")}
    </ChooseFiles>
  );
}

export function ChooseFiles(props: {
  folder?: boolean;
  multiple?: boolean;
  kind?: "primary" | "secondary" | "quiet";
  size?: "s" | "m";
  onChosen: (files: NamedFile[]) => void;
  children: string;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        kind={props.kind ?? "secondary"}
        size={props.size ?? "m"}
        icon="upload"
        onClick={() => input.current?.click()}
      >
        {props.children}
      </Button>
      <input
        ref={(element) => {
          input.current = element;
          if (element) element.webkitdirectory = props.folder ?? false;
        }}
        type="file"
        hidden
        aria-label={props.children}
        accept={props.folder ? undefined : "application/pdf,.pdf"}
        multiple={props.multiple}
        onChange={(event) => {
          const files = chosenFiles(event.currentTarget.files ?? []);
          event.currentTarget.value = "";
          props.onChosen(files);
        }}
      />
    </>
  );
}
