/** Line icons on a grid of 24, drawn with the colour of the text; hidden from screen readers, so name the button. */

const PATHS = {
  add: "M12 5v14M5 12h14",
  alert:
    "M12 8v5M12 16.5v.01M10.3 3.9 2.6 17.500A2 2 0 0 0 4.300 20.500h15.400a2 2 0 0 0 1.700-3L13.700 3.900a2 2 0 0 0-3.400 0Z",
  arrowDown: "M12 5v14M6 13l6 6 6-6",
  arrowUp: "M12 19V5M6 11l6-6 6 6",
  back: "M19 12H5M11 6l-6 6 6 6",
  chart: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  chat: "M21 12a8 8 0 0 1-8 8H4l2-3.200A8 8 0 1 1 21 12Z",
  check: "M5 12.500 10 17.500 19.500 7",
  chevronDown: "m6 9 6 6 6-6",
  chevronLeft: "m15 6-6 6 6 6",
  chevronRight: "m9 6 6 6-6 6",
  close: "M6 6l12 12M18 6 6 18",
  collapse: "M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5",
  copy: "M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1ZM5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1",
  document: "M14 3H6a1 1 0 0 0-1 1v16a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8ZM14 3v5h5M9 13h6M9 17h4",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  edit: "M4 20h4L19 9a2.100 2.100 0 0 0-3-3L5 17v3M14 8l3 3",
  expand: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  external: "M14 4h6v6M20 4 11 13M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5",
  faq: "M9.100 9a3 3 0 1 1 4.300 2.700c-.900.400-1.400 1.200-1.400 2.300M12 17.500v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  filter: "M4 6h16M7 12h10M10 18h4",
  globe:
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3.500 9h17M3.500 15h17M12 3c5 5.500 5 12.500 0 18M12 3c-5 5.500-5 12.500 0 18",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11.500V16M12 8v.01",
  inbox: "M4 13 6.500 5h11L20 13v6H4ZM4 13h5a3 3 0 0 0 6 0h5",
  key: "M14.500 13.500a4.500 4.500 0 1 0-4-4L4 16v4h4v-2.500h2.500V15ZM16 8v.01",
  label: "M4 4h8l8.500 8.500a1.500 1.500 0 0 1 0 2L15 20.500a1.500 1.500 0 0 1-2 0L4 12ZM8 8v.01",
  logout: "M10 4H5a1 1 0 0 0-1 1v14a1 1 0 0 0 1 1h5M15 8l4 4-4 4M19 12H9",
  menu: "M4 7h16M4 12h16M4 17h16",
  minus: "M5 12h14",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500Z",
  more: "M6 12v.01M12 12v.01M18 12v.01",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.500 20.500a7.500 7.500 0 0 1 15 0",
  quote: "M9.500 7C6.500 8 5 10 5 13v4h5v-5H7.500M18.500 7c-3 1-4.500 3-4.500 6v4h5v-5h-2.500",
  retry: "M20 11a8 8 0 1 0-.700 4.500M20 4.500V11h-6.500",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4",
  send: "M12 19V5M6 11l6-6 6 6",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 9.500v-5M9 19.500v-5",
  stop: "M7 7h10v10H7Z",
  sun: "M12 16.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9ZM12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M18.700 5.300l-1.400 1.400M6.700 17.300l-1.400 1.400",
  system: "M4 5h16v11H4ZM9 20h6M12 16v4",
  thumbDown:
    "M7 4v10M7 14l4.500 6.500A2 2 0 0 0 13.500 18v-4h4.800a2 2 0 0 0 2-2.400l-1.200-6A2 2 0 0 0 17.100 4H4v10h3",
  thumbUp: "M7 20V10M7 10l4.500-6.500A2 2 0 0 1 13.500 6v4h4.800a2 2 0 0 1 2 2.400l-1.200 6a2 2 0 0 1-2 1.600H4V10h3",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.500 11v5.500M13.500 11v5.500",
  upload: "M12 20V9M7 13l5-5 5 5M5 4h14",
  zoomIn: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4M11 8v6M8 11h6",
  zoomOut: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4M8 11h6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  const dots = name === "more";
  return (
    <svg
      aria-hidden="true"
      focusable="false"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width={dots ? 2.6 : 1.7}
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
