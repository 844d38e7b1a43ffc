export interface NamedFile {
  name: string;
  file: File;
}

/** Files of a dialog: with their folders if a folder was chosen. Hidden files, such as `.DS_Store`, are left out. */
export function chosenFiles(files: FileList | readonly File[]): NamedFile[] {
  return Array.from(files, (file) => ({ name: file.webkitRelativePath || file.name, file })).filter(isVisible);
}

/** Files of a drop, those of dropped folders by their paths, without hidden files. */
export async function droppedFiles(transfer: DataTransfer): Promise<NamedFile[]> {
  // A browser empties the transfer as soon as the event handler returns: take the entries first.
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry());
  const files = chosenFiles(transfer.files);
  if (!entries.some((entry) => entry?.isDirectory)) return files;
  const found = await Promise.all(entries.map((entry) => (entry ? filesBelow(entry) : [])));
  return found.flat().filter(isVisible);
}

async function filesBelow(entry: FileSystemEntry): Promise<NamedFile[]> {
  const name = entry.fullPath.replace(/^\//, "");
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ name, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const below: NamedFile[] = [];
  for (;;) {
    // A reader gives a hundred entries at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return below;
    for (const each of some) below.push(...(await filesBelow(each)));
  }
}

function isVisible({ name }: NamedFile): boolean {
  return !name.split("/").some((part) => part.startsWith("."));
}
