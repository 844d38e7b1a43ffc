import { people as english } from "./en/people.ts";
import { people as lithuanian } from "./lt/people.ts";
import { translator } from "./translate.ts";

export const t = translator(english, lithuanian);
