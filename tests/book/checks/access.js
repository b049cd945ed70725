// Run inside a built page, beside axe-core.
({
  // Colours of code and of signatures hang on their classes alone: one piece of each kind stands for all,
  // which spares axe-core most of its work. The text stays.
  thin() {
    const seen = new Set();
    for (const piece of document.querySelectorAll("pre span, .sig span")) {
      const block = piece.closest("pre, .sig");
      const kind = [piece.closest(".cell_output") ? "output" : "input", block.tagName, block.className];
      for (let e = piece; e !== block; e = e.parentElement) kind.push(e.className);
      if (seen.has(kind.join("/"))) piece.replaceWith(...piece.childNodes);
      else seen.add(kind.join("/"));
    }
    document.querySelectorAll("pre, .sig").forEach((block) => block.normalize());
  },

  dress(theme) {
    document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.mode = theme;
  },

  headers() {
    return [...document.querySelectorAll("table:not([role=presentation])")]
      .filter((table) => !table.querySelector("th"))
      .map((table) => `table-headers: ${table.outerHTML.slice(0, 80)} has no header cell`);
  },

  // axe-core is content with tabindex -1, which the mouse can focus and the keyboard cannot.
  async reach() {
    const scrolls = (e) => {
      const { overflowX, overflowY } = getComputedStyle(e);
      const can = (value) => ["auto", "scroll"].includes(value);
      return (can(overflowX) && e.scrollWidth > e.clientWidth) || (can(overflowY) && e.scrollHeight > e.clientHeight);
    };
    const reached = (e) => e.tabIndex >= 0 || [...e.querySelectorAll("a[href], button, input, [tabindex]")].some(
      (inner) => inner.tabIndex >= 0 && inner.checkVisibility(),
    );
    const unreached = () => [...document.querySelectorAll("main *")].filter((e) => scrolls(e) && !reached(e));
    for (let waited = 0; waited < 2000 && unreached().length; waited += 100) // the theme looks with a delay
      await new Promise((done) => setTimeout(done, 100));
    return unreached().map((e) => `scrollable-by-keyboard: ${e.outerHTML.slice(0, 80)} cannot be reached`);
  },
})
