/** Bring an element that has just opened on its own into view: `<section ref={scrolledTo}>`. */
export function scrolledTo(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}
