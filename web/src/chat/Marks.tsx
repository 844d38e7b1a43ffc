import { signal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/chat.ts";
import { pagesOf } from "../i18n/format.ts";
import { Icon } from "../ui/Icon.tsx";
import type { Mark } from "./answerText.ts";
import { CitationCard } from "./CitationCard.tsx";
import { type NumberedCitation, openCitation, titleOf } from "./citing.ts";
import css from "./Marks.module.css";

const OPEN_MS = 120; // a pointer that only passes opens nothing
const CLOSE_MS = 220; // time to get from the chip to the card

/** The group of chips whose card is open: one at a time. */
const opened = signal<string | null>(null);

/** Chips that stand together, with one card that pages through their sources. A click opens the document. */
export function Marks({ marks, citations }: { marks: readonly Mark[]; citations: readonly NumberedCitation[] }) {
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const returns = useRef(false); // the focus comes back from the document: that asks for no card
  const [at, turn] = useState(0);
  const isOpen = opened.value === id;
  const later = (ms: number, act: () => void) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(act, ms);
  };
  const show = (place: number, ms: number) =>
    later(ms, () => {
      turn(place);
      opened.value = id;
    });
  const hide = (ms = 0) =>
    later(ms, () => {
      if (opened.value === id) opened.value = null;
    });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      if (opened.peek() === id) opened.value = null;
    },
    [id],
  );
  const shown = marks.flatMap((mark) => {
    const place = citations.findIndex(({ citation }) => citation.n === mark.n);
    const found = citations[place];
    return found ? [{ mark, place, ...found }] : [];
  });
  const current = shown[Math.min(at, shown.length - 1)];
  const page = (by: number) => turn((at + by + shown.length) % shown.length);
  const open = (place: number) => {
    hide();
    returns.current = true;
    openCitation(citations, place);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen) return;
    if (event.key === "Escape") {
      event.stopPropagation(); // it closes the card, and does not stop the answer
      hide();
    } else if (shown.length > 1 && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      event.preventDefault();
      page(event.key === "ArrowRight" ? 1 : -1);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the pointer and the keys of the chips within it
    <span
      ref={box}
      class={css.marks}
      onPointerLeave={() => hide(CLOSE_MS)}
      onPointerEnter={() => isOpen && clearTimeout(timer.current)}
      onBlurCapture={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && box.current?.contains(relatedTarget))) hide(CLOSE_MS);
      }}
      onKeyDown={onKeyDown}
    >
      {"\u2060"}
      {shown.map(({ mark, number, citation, place }, own) => (
        <button
          key={mark.n}
          type="button"
          class={css.chip}
          data-verdict={mark.claim?.verdict}
          aria-label={t("chip", number, [titleOf(citation), pagesOf(citation), verdictWord(mark)])}
          aria-describedby={isOpen && at === own ? id : undefined}
          onPointerEnter={({ pointerType }) => pointerType === "mouse" && show(own, isOpen ? 0 : OPEN_MS)}
          onFocus={() => {
            if (!returns.current) show(own, 0);
            returns.current = false;
          }}
          onClick={() => open(place)}
        >
          {number}
          {mark.claim?.verdict === "unconfirmed" && <Icon name="help" size={12} />}
        </button>
      ))}
      {isOpen && current && (
        <Floating id={id} anchor={() => box.current}>
          <CitationCard {...current} at={at} of={shown.length} onPage={page} onOpen={() => open(current.place)} />
        </Floating>
      )}
    </span>
  );
}

function verdictWord({ claim }: Mark): string {
  if (!claim) return "";
  return claim.verdict === "confirmed" ? t("confirmed") : t("unconfirmed");
}

/** A card beside `anchor`, above the page and within the window. */
function Floating(props: { id: string; anchor: () => HTMLElement | null; children: preact.ComponentChildren }) {
  const card = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const place = () => {
      const from = props.anchor()?.querySelector("button")?.getBoundingClientRect();
      if (from && card.current) put(card.current, from);
    };
    const placeSoon = () => requestAnimationFrame(place);
    place();
    addEventListener("scroll", place, { capture: true, passive: true });
    addEventListener("resize", placeSoon);
    return () => {
      removeEventListener("scroll", place, { capture: true });
      removeEventListener("resize", placeSoon);
    };
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: it stands in a line of text, where no fieldset may
    <span ref={card} id={props.id} role="group" aria-label={t("source")} class={css.floating}>
      {props.children}
    </span>
  );
}

const GAP = 8;

function put(card: HTMLElement, from: DOMRect): void {
  const room = { above: from.top - 1.5 * GAP, below: innerHeight - from.bottom - 1.5 * GAP };
  card.style.setProperty("--room", `${Math.max(room.above, room.below)}px`); // it scrolls in a low window
  const { offsetWidth: width, offsetHeight: height } = card;
  card.style.visibility = from.bottom < 0 || from.top > innerHeight ? "hidden" : "visible"; // scrolled away
  const left = Math.max(GAP, Math.min(from.left, innerWidth - width - GAP));
  const isBelow = height <= room.below || room.below >= room.above;
  const top = isBelow ? from.bottom + GAP / 2 : from.top - height - GAP / 2;
  card.style.left = `${left}px`;
  card.style.top = `${top}px`;
}
