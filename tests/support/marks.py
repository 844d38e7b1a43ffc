"""The words under the marks of the page's document pane, read in the browser."""

from typing import NamedTuple

from playwright.sync_api import Page

MARKED_PAGES = "() => [...document.querySelectorAll('[data-page]:has([data-mark])')].map((page) => +page.dataset.page)"
TEXT_UNDER_MARKS = r"""(number) => {
  const WORD = /[\u2e80-\u9fff\uf900-\uff9f]|[^\s\u2e80-\u9fff\uf900-\uff9f]+/g;
  const page = document.querySelector(`[data-page="${number}"]`);
  const frame = page.getBoundingClientRect();
  const boxes = [...page.querySelectorAll('[data-mark]')].map((mark) => mark.getBoundingClientRect());
  const range = document.createRange();
  const words = [];
  const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(WORD)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      if (boxes.some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)) {
        words.push(word);
      }
    }
  }
  const shares = boxes.map((box) => [
    (box.left - frame.left) / frame.width, (box.top - frame.top) / frame.height,
    (box.right - frame.left) / frame.width, (box.bottom - frame.top) / frame.height,
  ]);
  return { text: words.join(' '), shares };
}"""


class Marked(NamedTuple):
    """A marked page: the words under its marks, and the marks in shares of the page (left, top, right, bottom)."""

    page: int
    text: str
    shares: list[tuple[float, float, float, float]]


def marked_pages(page: Page) -> list[Marked]:
    """Turn to each page that has marks, and read the words of its text layer whose middle lies under one."""
    found: list[Marked] = []
    numbers = page.evaluate(MARKED_PAGES)
    for number in numbers:
        if len(numbers) > 1:  # else it is the page that the pane has turned to
            page.get_by_label("Page number").fill(str(number))
            page.get_by_label("Page number").press("Enter")
        page.locator(f'[data-page="{number}"][data-state="drawn"]').wait_for(state="attached")
        under = page.evaluate(TEXT_UNDER_MARKS, number)
        found.append(Marked(number, under["text"], [tuple(share) for share in under["shares"]]))
    return found
