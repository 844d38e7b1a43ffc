/** The document pane alone, to be driven by `tests/benchmarks/bench_highlights.py`; no part of the page. */

import "../src/styles/tokens.css";
import "../src/styles/base.css";
import { render } from "preact";
import { loadConfig } from "../src/app/config.ts";
import { startSession } from "../src/app/session.ts";
import PdfPane from "../src/viewer/PdfPane.tsx";
import { openSource } from "../src/viewer/pane.ts";

const place = document.getElementById("page");
await loadConfig();
await startSession();
if (place) render(<PdfPane />, place);
Object.assign(window, { openSource });
