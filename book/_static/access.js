/* What the theme and docutils leave without a name or with a wrong role. Nothing here can be configured. */
document.addEventListener("DOMContentLoaded", () => {
  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);
  const set = (attributes) => (element) =>
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));

  // The arrows that unfold a chapter's solutions hold an icon and no words.
  each(".bd-sidebar-primary summary", (summary) => {
    const chapter = summary.closest("li").querySelector("a").textContent.trim();
    summary.setAttribute("aria-label", `Pages under ${chapter}`);
  });

  // The sidebar's title and search button stand outside of every landmark.
  each("#pst-primary-sidebar", set({ role: "region", "aria-label": "The book" }));

  // A list may hold list items only; the role that docutils gives its entries is deprecated.
  each(".citation-list > .citation", set({ role: "listitem" }));

  // On a narrow screen a figure keeps a size at which its words can be read, and scrolls as wide tables do.
  each(".cell_output > img", (figure) => {
    const box = document.createElement("div");
    box.className = "output";
    figure.replaceWith(box);
    box.append(figure);
  });

  // Indexes are lists laid out as tables without headers.
  each("table.indextable", set({ role: "presentation" }));
});
