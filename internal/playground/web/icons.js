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
};

export function icon(name) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(ns, "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}
