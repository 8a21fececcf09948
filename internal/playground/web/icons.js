// Small drawn icons, so that the page looks the same without an emoji font.

const shapes = {
  inspect: "M10.500 3a7.500 7.500 0 1 0 0 15 7.500 7.500 0 0 0 0-15zM16 16l5 5",
  smile: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.500 14.500c1.800 2.300 5.200 2.300 7 0M9 9.500v.5M15 9.500v.5",
  reply: "M9 6 4 11l5 5M4 11h10a6 6 0 0 1 6 6v1",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13M10.500 11v5M13.500 11v5",
  panel: "M4 5h16v14H4zM14 5v14",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  eye: "M2.500 12s3.500-6.500 9.500-6.500 9.500 6.500 9.500 6.500-3.500 6.500-9.500 6.500S2.500 12 2.500 12zM12 9.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z",
  hash: "M9 4 7 20M17 4l-2 16M4.500 9h16M3.500 15h16",
  thread: "M4 5h16M4 10h9M4 15h6M13 20l3-3h4v-6h-8v6h1z",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 6h16M4 12h16M4 18h16",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z",
  plus: "M12 5v14M5 12h14",
  send: "M4 4l17 8-17 8 3-8zM7 12h8",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  down: "M6 9l6 6 6-6",
  check: "M5 13l4 4L19 7",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  sticker: "M5 4h14v9l-6 7H5zM13 20v-7h6",
  at: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM16 8v5.500a2.500 2.500 0 0 0 5 0V12a9 9 0 1 0-4 7.500",
  shield: "M12 3l7 3v6c0 4.500-3 7.500-7 9-4-1.500-7-4.500-7-9V6z",
  bubble: "M4 5h16v11H10l-5 4v-4H4z",
  people: "M9 5a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM2.500 20c0-4 3-6 6.500-6s6.500 2 6.500 6M16 5.500a3 3 0 0 1 0 6M18 14.500c2.300.8 3.500 2.700 3.500 5.500",
};

// icon draws one of the shapes; small is for the middle of a text.
export function icon(name, small) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", small ? "icon small" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(ns, "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}
