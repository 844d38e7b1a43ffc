import { frame as english } from "./en/frame.ts";
import { frame as lithuanian } from "./lt/frame.ts";
import { translator } from "./translate.ts";

export const t = translator(english, lithuanian);
