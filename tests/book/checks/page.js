// Run inside a built page; every function returns sentences that say what is wrong.
({
  what(element) {
    const words = (element.innerText || "").trim().replace(/\s+/g, " ").slice(0, 40);
    const classes = [...element.classList].map((name) => "." + name).join("");
    return `<${element.tagName.toLowerCase()}${classes}> "${words}"`;
  },

  prepare() {
    document.head.insertAdjacentHTML(
      "beforeend",
      "<style>* { transition: none !important; animation: none !important }</style>",
    );
    document.querySelectorAll("details").forEach((details) => (details.open = true));
  },

  overflow() {
    const page = document.documentElement;
    const found = [];
    const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const insideScroller = (element) => {
      for (let e = element; e && e !== document.body; e = e.parentElement) if (scrolls(e)) return true;
      return false;
    };
    if (page.scrollWidth > page.clientWidth)
      found.push(`the page is ${page.scrollWidth} px wide in a window of ${page.clientWidth} px`);
    const content = document.querySelector("main") || document.body;
    for (const element of content.querySelectorAll("table, pre, img, svg, p, dl, ul, ol, mjx-container")) {
      const box = element.getBoundingClientRect();
      if (box.width && box.right > page.clientWidth + 1 && !insideScroller(element))
        found.push(`${this.what(element)} is cut off at the right edge`);
    }
    return found;
  },

  formulas() {
    const found = [];
    for (const element of document.querySelectorAll(".math"))
      if (!element.querySelector("mjx-container"))
        found.push(`the formula ${element.textContent.trim().slice(0, 40)} is not rendered`);
    const bad = "mjx-merror, .MathJax_Error, [data-mjx-error], mjx-container [style*='color: red']";
    for (const element of document.querySelectorAll(bad))
      found.push(`MathJax reports an error in ${element.closest("mjx-container")?.textContent}`);
    const text = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (text.nextNode()) {
      const node = text.currentNode;
      if (node.parentElement.closest("pre, code, script, style, mjx-container, .math, textarea, noscript")) continue;
      if (/\$|\\\(|\\\[|\\begin\{/.test(node.data)) found.push(`raw TeX: ${node.data.trim().slice(0, 60)}`);
    }
    return found;
  },

  contrast(theme) {
    document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.mode = theme;
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const known = new Map();
    const colour = (css) => {
      if (!known.has(css)) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = css;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        known.set(css, [r, g, b, a / 255]);
      }
      return known.get(css);
    };
    const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a));
    const background = (element) => {
      if (!element) return [255, 255, 255];
      const own = colour(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own.slice(0, 3) : over(own, background(element.parentElement));
    };
    const luminance = (rgb) => {
      const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = new Map();
    const content = document.querySelector("main") || document.body;
    for (const element of content.querySelectorAll("*")) {
      const speaks = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
      if (!speaks || element.closest("script, style, svg, mjx-assistive-mml, .headerlink, .visually-hidden")) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const below = background(element);
      const [high, low] = [luminance(over(colour(style.color), below)), luminance(below)].sort((a, b) => b - a);
      const ratio = (high + 0.05) / (low + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) {
        const key = `${style.color} on rgb(${below.map(Math.round).join(", ")})`;
        if (!found.has(key)) found.set(key, `${this.what(element)} has contrast ${ratio.toFixed(2)} (${key})`);
      }
    }
    return [...found.values()];
  },

  focus() {
    const element = document.activeElement;
    const look = () => {
      const s = getComputedStyle(element);
      const outline = s.outlineStyle === "none" || s.outlineWidth === "0px" ? "" : s.outline;
      return [outline, s.boxShadow, s.backgroundColor, s.textDecoration, s.border].join("|");
    };
    const box = element.getBoundingClientRect();
    const focused = look();
    element.blur();
    const changes = focused !== look();
    element.focus({ focusVisible: true });
    return {
      visible: box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true }) && changes,
      navigation: !!element.closest("nav, .bd-sidebar-primary") && element.matches("a[href]"),
      menu: element.matches("button, label, summary, [role=button]") && /menu|sidebar|navigation|contents/i.test(
        [element.title, element.ariaLabel, element.className, element.textContent, element.dataset.bsTitle].join(" "),
      ),
      what: this.what(element),
    };
  },
})
