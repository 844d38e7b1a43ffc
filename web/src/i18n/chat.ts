import { chat as english } from "./en/chat.ts";
import { chat as lithuanian } from "./lt/chat.ts";
import { translator } from "./translate.ts";

export const t = translator(english, lithuanian);
