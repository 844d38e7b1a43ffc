import { documents as english } from "./en/documents.ts";
import { documents as lithuanian } from "./lt/documents.ts";
import { translator } from "./translate.ts";

export const t = translator(english, lithuanian);
