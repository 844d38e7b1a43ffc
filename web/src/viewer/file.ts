/** Reads a file of the bucket through a link that lasts five minutes: in ranges, and with a new link when it has expired. */

/** A link to a file, as `GET /documents/{id}/content` gives it. */
export interface Link {
  url: string;
  size_bytes: number;
}

/** Bytes of the first request. A file that is no larger is read at once. */
export const FIRST_BYTES = 512 * 1024;
const ATTEMPTS = 3;
const PAUSE_MS = 400;

/** A file that cannot be read: the bucket's status, or 0 if it cannot be reached. */
export class FileError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The file cannot be read (status ${status}).`);
    this.name = "FileError";
    this.status = status;
  }
}

/** The beginning of a file; all of it if `length` is that of `bytes`. */
export interface Beginning {
  bytes: Uint8Array<ArrayBuffer>;
  length: number;
}

export class LinkedFile {
  #link: Promise<Link>;
  readonly #newLink: () => Promise<Link>;
  readonly #signal: AbortSignal;

  constructor(link: Link, newLink: () => Promise<Link>, signal: AbortSignal) {
    this.#link = Promise.resolve(link);
    this.#newLink = newLink;
    this.#signal = signal;
  }

  /** Returns the beginning of the file, or all of it from a server that knows no ranges. */
  async beginning(): Promise<Beginning> {
    const response = await this.#get(0, FIRST_BYTES);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const total = Number(response.headers.get("content-range")?.split("/")[1]);
    return { bytes, length: response.status === 206 && total > 0 ? total : bytes.length };
  }

  /** Returns the bytes from `begin` to before `end`. */
  async range(begin: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const response = await this.#get(begin, end);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return response.status === 206 ? bytes : bytes.slice(begin, end);
  }

  async #get(begin: number, end: number): Promise<Response> {
    let status = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const link = await this.#link;
      const response = await this.#fetched(link.url, begin, end);
      if (response?.ok) return response;
      status = response?.status ?? 0;
      if (status === 403 || status === 400) {
        this.#link = this.#newLink(); // it has expired
      } else if (status !== 0 && status < 500 && status !== 429) {
        break;
      } else {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt));
      }
    }
    throw new FileError(status);
  }

  async #fetched(url: string, begin: number, end: number): Promise<Response | null> {
    try {
      return await fetch(url, { headers: { range: `bytes=${begin}-${end - 1}` }, signal: this.#signal });
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof TypeError) return null;
      throw error;
    }
  }
}
