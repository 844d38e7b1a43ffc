import "./styles/tokens.css";
import "./styles/base.css";
import { render } from "preact";
import { watchApi } from "./api/client.ts";
import { App } from "./app/App.tsx";
import { loadConfig } from "./app/config.ts";
import { SignedIn } from "./app/SignedIn.tsx";
import { startSession } from "./app/session.ts";
import "./app/theme.ts";
import { ErrorNotice } from "./ui/ErrorNotice.tsx";

const place = document.getElementById("page");

async function start(into: HTMLElement): Promise<void> {
  try {
    await loadConfig();
    watchApi();
    const start = await startSession();
    if (start === "for another window") render(<SignedIn />, into);
    else render(<App denied={start !== null} />, into);
  } catch (error) {
    render(<ErrorNotice error={error} retry={() => location.reload()} />, into);
  }
}

if (place) void start(place);
