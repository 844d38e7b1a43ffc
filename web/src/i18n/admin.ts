import { admin as english } from "./en/admin.ts";
import { admin as lithuanian } from "./lt/admin.ts";
import { translator } from "./translate.ts";

export const t = translator(english, lithuanian);
