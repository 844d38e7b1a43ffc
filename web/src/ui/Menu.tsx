import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "./Button.tsx";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./Icon.tsx";
import css from "./Menu.module.css";

export interface MenuItem {
  label: string;
  icon?: IconName;
  danger?: boolean;
  /** For one of several choices: whether it is the chosen one. */
  checked?: boolean;
  /** A line is drawn above it. */
  apart?: boolean;
  onSelect: () => void;
}

export interface MenuProps {
  /** What the menu is for; the name of its button. */
  label: string;
  items: readonly MenuItem[];
  icon?: IconName;
  size?: "s" | "m";
  /** Instead of an icon. */
  trigger?: ComponentChildren;
  side?: "below" | "above";
  align?: "start" | "end";
  class?: string | undefined;
}

/** A button that opens a list of actions: arrow keys, Home, End, Esc and first letters work in it. */
export function Menu({
  label,
  items,
  icon = "more",
  size = "m",
  trigger,
  side = "below",
  align = "end",
  ...rest
}: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (!open) return;
    place(list.current, button.current, { side, align });
    itemsIn(box.current)[0]?.focus({ preventScroll: true });
    const outside = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    // A list that grows shorter scrolls by itself: the menu goes with its button, and closes once that is out of sight.
    const follow = () => {
      if (inSight(box.current, button.current)) place(list.current, button.current, { side, align });
      else setOpen(false);
    };
    addEventListener("pointerdown", outside, true);
    for (const event of MOVING) addEventListener(event, follow, true);
    return () => {
      removeEventListener("pointerdown", outside, true);
      for (const event of MOVING) removeEventListener(event, follow, true);
    };
  }, [open, side, align]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      setOpen(true);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") {
      setOpen(false);
    } else {
      move(event, itemsIn(box.current));
    }
  };
  const toggle = {
    "aria-haspopup": "menu" as const,
    "aria-expanded": open,
    "aria-controls": open ? id : undefined,
    onClick: () => setOpen(!open),
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of the buttons within it
    <div class={classes(css.menu, rest.class)} ref={box} onKeyDown={onKeyDown}>
      {trigger ? (
        <button type="button" ref={button} class={css.trigger} aria-label={label} {...toggle}>
          {trigger}
        </button>
      ) : (
        <IconButton icon={icon} size={size} label={label} buttonRef={button} {...toggle} />
      )}
      {open && (
        <div id={id} role="menu" aria-label={label} class={css.list} popover="manual" ref={list}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              {...roleOf(item)}
              tabIndex={-1}
              class={classes(css.item, item.danger && css.danger, item.apart && css.apart)}
              onClick={() => {
                close();
                item.onSelect();
              }}
            >
              {item.icon && <Icon name={item.icon} size={16} />}
              <span class={css.label}>{item.label}</span>
              {item.checked && <Icon name="check" size={16} />}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** What may have moved a menu's button. */
const MOVING = ["scroll", "resize"] as const;
const GAP = 4;
const EDGE = 8;

/** Put the list beside its button, over everything, and within the window. */
function place(
  list: HTMLElement | null,
  button: HTMLElement | null,
  at: Required<Pick<MenuProps, "side" | "align">>,
): void {
  if (!list || !button) return;
  if (!list.matches(":popover-open")) list.showPopover();
  const [own, its] = [list.getBoundingClientRect(), button.getBoundingClientRect()];
  const below = its.bottom + GAP;
  const above = its.top - GAP - own.height;
  const top = at.side === "above" || below + own.height > innerHeight - EDGE ? above : below;
  const left = at.align === "end" ? its.right - own.width : its.left;
  list.style.top = `${within(top, own.height, innerHeight)}px`;
  list.style.left = `${within(left, own.width, innerWidth)}px`;
}

/** Whether a person sees the button, if nothing but its own list is over it. */
function inSight(box: HTMLElement | null, button: HTMLElement | null): boolean {
  if (!box || !button) return false;
  const { left, top, width, height } = button.getBoundingClientRect();
  return box.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}

function within(start: number, length: number, room: number): number {
  return Math.max(EDGE, Math.min(start, room - EDGE - length));
}

function roleOf(item: MenuItem) {
  if (item.checked === undefined) return { role: "menuitem" } as const;
  return { role: "menuitemradio", "aria-checked": item.checked } as const;
}

function itemsIn(box: HTMLElement | null): HTMLElement[] {
  return [...(box?.querySelectorAll<HTMLElement>("[role=menu] > button") ?? [])];
}

function move(event: KeyboardEvent, items: HTMLElement[]): void {
  const at = items.findIndex((item) => item.matches(":focus"));
  const to = targetOf(event.key, at, items);
  if (to === undefined) return;
  event.preventDefault();
  items[to]?.focus();
}

function targetOf(key: string, at: number, items: HTMLElement[]): number | undefined {
  if (key === "ArrowDown") return (at + 1) % items.length;
  if (key === "ArrowUp") return (at - 1 + items.length) % items.length;
  if (key === "Home") return 0;
  if (key === "End") return items.length - 1;
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLocaleLowerCase();
  const found = items.findIndex((item) => item.textContent?.trim().toLocaleLowerCase().startsWith(letter));
  return found < 0 ? undefined : found;
}
