import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/frame.ts";
import { IconButton } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Toasts } from "../ui/Toasts.tsx";
import { closeSource, expanded, source, toggleExpanded } from "../viewer/pane.ts";
import css from "./App.module.css";
import { Banner } from "./Banner.tsx";
import { Ended } from "./Ended.tsx";
import { lazy } from "./Lazy.tsx";
import { media } from "./media.ts";
import { type Route, route } from "./router.ts";
import { Sidebar } from "./Sidebar.tsx";
import { StartPage } from "./StartPage.tsx";
import { session } from "./session.ts";
import { useArrival, useSteadyReading } from "./steady.ts";
import { useTitle } from "./title.ts";
import { View } from "./views.tsx";
import { Wordmark } from "./Wordmark.tsx";

const PdfPane = lazy(() => import("../viewer/PdfPane.tsx"));

/** The page: the start page, or the frame around the view. */
export function App({ denied }: { denied: boolean }) {
  return (
    <>
      {session.value ? <Frame /> : <StartPage denied={denied} />}
      <Ended />
      <Toasts />
    </>
  );
}

// Where there is too little room for the sidebar, a bar with a button opens it as a drawer.
const isNarrow = media("(max-width: 60rem)");
const isNarrowForTwo = media("(max-width: 80rem)");

function Frame() {
  const [drawerAt, setDrawerAt] = useState<Route | null>(null); // going somewhere closes it
  const menu = useRef<HTMLButtonElement>(null);
  const side = useRef<HTMLElement>(null);
  const main = useRef<HTMLElement>(null);
  const at = route.value;
  const narrow = isNarrow.value || (isNarrowForTwo.value && source.value !== null);
  const open = narrow && drawerAt === at;
  useSteadyReading(main);
  useArrival(main);
  useTitle(at);
  const back = useRef(false);
  useEffect(() => {
    if (open) side.current?.querySelector("button")?.focus();
    else if (back.current) menu.current?.focus();
    back.current = false;
  }, [open]);
  const close = () => {
    back.current = true;
    setDrawerAt(null);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes the drawer from anywhere within
    <div
      class={classes(css.frame, narrow && css.narrow)}
      onKeyDown={(event) => open && event.key === "Escape" && close()}
    >
      <button type="button" class={css.skip} onClick={() => main.current?.focus()}>
        {t("skip")}
      </button>
      {narrow && (
        <header class={css.bar} inert={open}>
          <IconButton
            icon="menu"
            label={t("menu")}
            aria-expanded={open}
            buttonRef={menu}
            onClick={() => setDrawerAt(at)}
          />
          <Wordmark />
        </header>
      )}
      {open && <button type="button" class={css.scrim} aria-label={t("close_menu")} tabIndex={-1} onClick={close} />}
      <aside class={classes(css.side, open && css.open)} ref={side} inert={narrow && !open}>
        <Sidebar onClose={narrow ? close : null} />
      </aside>
      <div class={classes(css.split, source.value && css.both, expanded.value && css.wide)} inert={open}>
        <main class={css.main} ref={main} tabIndex={-1} inert={expanded.value}>
          <Banner />
          <View at={at} />
        </main>
        {source.value && (
          // biome-ignore lint/a11y/noStaticElementInteractions: Esc is heard from anything within
          <div class={css.pane} onKeyDown={closeByKey}>
            <PdfPane />
          </div>
        )}
      </div>
    </div>
  );
}

function closeByKey(event: KeyboardEvent): void {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  event.preventDefault();
  if (expanded.value) toggleExpanded();
  else closeSource();
}
