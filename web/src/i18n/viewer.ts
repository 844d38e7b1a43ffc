import { viewer as english } from "./en/viewer.ts";
import { viewer as lithuanian } from "./lt/viewer.ts";
import { translator } from "./translate.ts";

export const t = translator(english, lithuanian);
