"use strict";
(() => {
  const FEW = 4; // elevations that are opened when the words leave no more of them
  const box = document.getElementById("filter");
  const said = document.getElementById("said");
  const rows = [...document.querySelectorAll("section.row")];
  const things = [...document.querySelectorAll("[data-find]")].map((it) => [it, it.dataset.find.toLowerCase()]);
  const racks = things.filter(([it]) => it.tagName === "TR").length;
  const index = document.getElementById("rows");
  const opened = new Set();

  const find = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [it, text] of things) it.hidden = !words.every((word) => text.includes(word));
    for (const row of rows) row.hidden = !row.querySelector("tr[data-find]:not([hidden])");
    const shown = document.querySelectorAll("tr[data-find]:not([hidden])").length;
    index.hidden = words.length > 0;
    said.textContent = words.length ? `${shown} of ${racks} racks` : "";
    open(words.length ? document.querySelectorAll("figure[data-find]:not([hidden])") : []);
  };

  const open = (pictures) => {
    for (const each of opened) each.open = false;
    opened.clear();
    if (pictures.length > FEW) return;
    for (const picture of pictures) {
      const closed = picture.closest("details:not([open])");
      if (closed) opened.add(closed);
    }
    for (const each of opened) each.open = true;
  };

  box.addEventListener("input", find);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") document.getElementById("racks").scrollIntoView();
  });
  document.getElementById("tools").hidden = false;

  // On paper nothing can be opened: long tables and the sources of all figures are printed, and closed again.
  const closed = [...document.querySelectorAll("details.source:not([open]), details.lines:not([open])")];
  addEventListener("beforeprint", () => closed.forEach((it) => { it.open = true; }));
  addEventListener("afterprint", () => closed.forEach((it) => { it.open = false; }));
})();
