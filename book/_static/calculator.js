// The calculator. Its formulas mirror rnnlib/cost (block.py, spec.py, width.py), name by name;
// tests/test_calculator.py holds every figure equal. All arithmetic is on BigInt, so no size is rounded.
(() => {
  "use strict";

  // Formulas -----------------------------------------------------------------------------------------

  const NAMES = { rnn: "tanh RNN", gru: "GRU", lstm: "LSTM" };
  const GATES = { rnn: 1n, gru: 3n, lstm: 4n };
  const DTYPE_BYTES = { float64: 8n, float32: 4n, float16: 2n, bfloat16: 2n };
  // Hidden-size vectors per step that a scheme keeps beside the output h.
  const KEPT_BESIDE_H = {
    rnn: { gates: 0n, "gates+tanh": 0n, recompute: 0n, native: 0n },
    gru: { gates: 4n, "gates+tanh": 4n, recompute: 0n, native: 6n },
    lstm: { gates: 5n, "gates+tanh": 6n, recompute: 1n, native: 6n },
  };
  const LISTED_LAYERS = 12n;

  const attempt = (compute) => {
    try {
      return compute();
    } catch (error) {
      return error;
    }
  };

  const outputSize = (spec) => spec.directions * (spec.P || spec.H);

  // One entry per layer and direction. In a stack too deep to list, one entry stands for all layers
  // above the first, which are equal, and `count` says how many they are.
  function blocks(spec) {
    const folded = spec.L > LISTED_LAYERS;
    const found = [];
    for (let layer = 0n; layer < (folded ? 2n : spec.L); layer++) {
      const count = folded && layer ? spec.L - 1n : 1n;
      for (let reverse = 0n; reverse < spec.directions; reverse++) {
        const suffix = (count > 1n ? `l1 to l${count}` : `l${layer}`) + (reverse ? "_reverse" : "");
        const inputSize = layer ? outputSize(spec) : spec.D;
        found.push({ cell: spec.cell, layer, suffix, count, inputSize, H: spec.H, P: spec.P, W: spec.P || spec.H });
      }
    }
    return found;
  }

  const total = (spec, cost) => blocks(spec).reduce((sum, block) => sum + block.count * cost(block), 0n);

  function parameters({ cell, inputSize, H, P, W }, bias) {
    const rows = GATES[cell] * H;
    const biases = { pytorch: 2n * rows, single: rows, minimal: rows + (cell === "gru" ? H : 0n), none: 0n };
    return rows * inputSize + rows * W + biases[bias] + P * H;
  }

  function macs({ cell, layer, inputSize, H, P, W }, { tokens, sequences }, training, scheme) {
    const rows = GATES[cell] * H;
    const [into, recurrent, projection] = [rows * inputSize, rows * W, P * H];
    const forward = tokens * (into + recurrent + projection);
    if (!training) return forward;
    const toInput = layer ? tokens * into : 0n; // the first layer's input needs no gradient
    const again = scheme === "recompute" && cell !== "rnn" ? tokens * (into + recurrent) : 0n; // the gates once more
    return 2n * forward + toInput + (tokens - sequences) * recurrent + tokens * projection + again;
  }

  function floatsPerStep({ cell, H, P, W }, scheme) {
    return KEPT_BESIDE_H[cell][scheme] * H + W + (scheme === "native" && P ? H : 0n);
  }

  const stateSize = ({ cell, H, W }) => W + (cell === "lstm" ? H : 0n);

  function storageTerms(spec, { tokens, sequences, packed }, scheme, dtype) {
    const native = scheme === "native";
    if (native && packed)
      throw new Error(
        "torch's kernels copy states whenever a packed batch shrinks, which has no closed form here; " +
          "measure it with rnnlib.measure.saved_bytes",
      );
    const size = DTYPE_BYTES[dtype];
    const handedOn = size * tokens * (spec.L - 1n) * outputSize(spec);
    return {
      block: (block) => size * tokens * floatsPerStep(block, scheme),
      steps: native ? handedOn : 0n,
      directions: !native && spec.directions > 1n ? handedOn : 0n,
      initial: native && spec.cell !== "rnn" ? 0n : size * sequences * total(spec, stateSize),
      input: size * tokens * spec.D,
    };
  }

  function criticalPath(spec, steps, schedule) {
    if (schedule === "layerwise") return steps * spec.L;
    if (spec.directions > 1n)
      throw new Error(
        "the reverse direction of a layer starts at the last step, so the next layer cannot start " +
          "before this one has ended",
      );
    return steps ? steps + spec.L - 1n : 0n;
  }

  // The nearest count wins, and a tie goes to the smaller width.
  function match(cell, spec, target, bias) {
    const count = (H) => total({ ...spec, cell, H, P: 0n }, (block) => parameters(block, bias));
    let [first, last] = [1n, 1n];
    while (count(last) < target) last *= 2n;
    while (first < last) {
      const middle = (first + last) / 2n;
      if (count(middle) < target) first = middle + 1n;
      else last = middle;
    }
    const below = first > 1n && target - count(first - 1n) <= count(first) - target;
    const H = below ? first - 1n : first;
    return { H, parameters: count(H) };
  }

  // The form -----------------------------------------------------------------------------------------

  const $ = (id) => document.getElementById(`calc-${id}`);
  const form = $("form");
  const field = form.elements;
  const KEYS = [...field].map((element) => element.name).filter(Boolean);
  const MINIMUM = { D: 0n, H: 1n, L: 1n, P: 0n, N: 1n, T: 0n };
  const TYPED = [...Object.keys(MINIMUM), "lengths"];

  const get = (key) => (field[key].type === "checkbox" ? (field[key].checked ? "on" : "off") : field[key].value);
  const hash = (changes = {}) => {
    const state = KEYS.filter((key) => !field[key].disabled).map((key) => [key, changes[key] ?? get(key)]);
    const filled = state.filter(([key, value]) => value || key !== "lengths");
    return "#" + new URLSearchParams(filled).toString().replaceAll("%2C", ",");
  };

  function integer(text, minimum) {
    if (!/^\d+$/.test(text) || BigInt(text) < minimum)
      throw new Error(`Expected a ${minimum ? "positive" : "non-negative"} integer.`);
    if (text.length > 18) throw new Error("Expected at most 18 digits.");
    return BigInt(text);
  }

  // Reads every field, writes what is wrong beside it, and returns null if anything is.
  function read() {
    const spec = Object.fromEntries(KEYS.map((key) => [key, get(key).trim()]));
    const packed = spec.lengths !== "";
    field.N.disabled = field.T.disabled = packed;
    field.P.disabled = spec.cell !== "lstm";
    const errors = {};
    const check = (key, parse) => {
      const value = attempt(() => parse(spec[key]));
      if (value instanceof Error) errors[key] = value.message;
      else spec[key] = value;
    };
    for (const [key, minimum] of Object.entries(MINIMUM))
      if (field[key].disabled) spec[key] = 0n;
      else check(key, (text) => integer(text, minimum));
    check("lengths", (text) => (packed ? text.split(/\s*,\s*|\s+/).map((length) => integer(length, 0n)) : []));
    if (!errors.H && !errors.P && spec.P >= spec.H) errors.P = `Expected less than H = ${spec.H}.`;
    const unused = { P: "Only an LSTM projects.", N: "Given by the lengths.", T: "Given by the lengths." };
    for (const key of TYPED) {
      $(`${key}-error`).textContent = errors[key] ?? (field[key].disabled ? unused[key] : "");
      field[key].setAttribute("aria-invalid", key in errors);
    }
    if (Object.keys(errors).length) return null;
    const { lengths, N, T } = spec;
    spec.directions = BigInt(spec.directions);
    spec.training = spec.training === "on";
    spec.batch = packed
      ? {
          packed,
          tokens: lengths.reduce((sum, length) => sum + length, 0n),
          sequences: BigInt(lengths.filter((length) => length).length),
          steps: lengths.reduce((most, length) => (length > most ? length : most), 0n),
          python: `lengths=[${lengths.join(", ")}]`,
        }
      : { packed, tokens: T * N, sequences: T ? N : 0n, steps: T, python: `steps=${T}, batch=${N}` };
    return spec;
  }

  // The results --------------------------------------------------------------------------------------

  const UNITS = {
    parameters: "parameters",
    forward: "MACs forward",
    training: "MACs in training",
    storage: "bytes kept by the layers",
  };
  const group = (number) => number.toLocaleString("en-US");
  function decimal(numerator, denominator) {
    if (!numerator) return "0";
    const hundredths = (200n * numerator + denominator) / (2n * denominator);
    if (!hundredths) return "under 0.01";
    return `${group(hundredths / 100n)}.${String(hundredths % 100n).padStart(2, "0")}`;
  }
  const figure = (key, text, unit = "") => `<span data-figure="${key}">${text}</span>${unit && ` ${unit}`}`;
  const number = (key, value, unit) => figure(key, group(value), unit);
  const bytes = (key, value) =>
    number(key, value, "bytes") + `<small>${figure(`${key} MiB`, decimal(value, 1n << 20n), "MiB")}</small>`;
  const row = (label, code, value) => `<div><dt>${label}<code>${code}</code></dt><dd>${value}</dd></div>`;
  const list = (title, ...rows) => `<h3>${title}</h3><dl>${rows.join("")}</dl>`;
  const answer = (key, value, show) =>
    value instanceof Error ? `<em>${figure(key, `Not possible: ${value.message}.`)}</em>` : show(key, value);

  function python({ cell, D, H, L, directions, P }) {
    const options = [L > 1n && `num_layers=${L}`, directions > 1n && "bidirectional=True", P && `proj_size=${P}`];
    return `StackSpec("${cell}", ${[`input_size=${D}`, `hidden_size=${H}`, ...options].filter(Boolean).join(", ")})`;
  }

  // Quantities that the layers share, with the part of every row of the table.
  function shared(spec, storage) {
    const { bias, batch, training, scheme } = spec;
    const quantity = (key, title, cost, joined = 0n) => {
      const parts = new Map(blocks(spec).map((block) => [block.suffix, block.count * cost(block)]));
      if (joined) parts.set("joined steps", joined);
      return { key, title, parts, sum: [...parts.values()].reduce((sum, part) => sum + part, 0n) };
    };
    const found = [quantity("parameters", "Parameters", (block) => parameters(block, bias))];
    found.push(quantity("forward", "MACs, forward", (block) => macs(block, batch, false)));
    if (training) found.push(quantity("training", "MACs, training", (block) => macs(block, batch, true, scheme)));
    if (storage?.block) found.push(quantity("storage", "Bytes kept", storage.block, storage.steps));
    return found;
  }

  function totals(spec, storage, quantities) {
    const { batch, bias, scheme, dtype } = spec;
    const sum = Object.fromEntries(quantities.map(({ key, sum }) => [key, sum]));
    const products = (label, key, size, call, training) => {
      const count = total(spec, (block) => macs(block, size, training, scheme));
      const both = [number(`${key} MACs`, count, "MACs"), number(`${key} FLOPs`, 2n * count, "FLOPs")];
      return row(label, `spec.macs(${call})`, both.join("<br>"));
    };
    const path = (label, schedule) => {
      const steps = attempt(() => criticalPath(spec, batch.steps, schedule));
      return row(label, `spec.critical_path(${batch.steps}, "${schedule}")`, answer(schedule, steps, number));
    };
    const step = { tokens: 1n, sequences: 1n };
    const training = `training=True, scheme="${scheme}"`;
    const arithmetic = [
      products("Forward, one step of one sequence", "forward step", step, "", false),
      products("Forward, the batch", "forward batch", batch, batch.python, false),
    ];
    if (spec.training)
      arithmetic.push(
        products("Training, a sequence of one step", "training step", step, training, true),
        products("Training, the batch", "training batch", batch, `${batch.python}, ${training}`, true),
      );
    const call = `(${batch.python}, scheme="${scheme}", dtype="${dtype}")`;
    const terms = `spec.storage_terms${call}`;
    const kept = [];
    if (storage)
      kept.push(row("By the layers", `spec.storage${call}`, answer("storage", sum.storage ?? storage, bytes)));
    if (storage?.block) {
      const { directions, initial, input } = storage;
      const term = (label, name, size) => row(label, `${terms}.get("${name}", 0)`, bytes(name, size));
      kept.push(
        term("Joined directions", "joined directions", directions),
        term("Initial states", "initial states", initial),
        term("Input", "input", input),
        row("All of these", `sum(${terms}.values())`, bytes("all kept", sum.storage + directions + initial + input)),
      );
    }
    return [
      list("Parameters", row(`Bias: ${bias}`, `spec.parameters("${bias}")`, number("parameters", sum.parameters))),
      list("Arithmetic", ...arithmetic),
      storage ? list("Kept for the backward pass", ...kept) : "",
      list("Critical path, in cell steps", path("Layer by layer", "layerwise"), path("Wavefront", "wavefront")),
    ].join("");
  }

  function bar({ title, parts, sum }) {
    const shares = [...parts].map(([suffix, part]) => `${suffix}: ${decimal(100n * part, sum)} %`);
    const segments = [...parts].map(([suffix, part], k) => {
      const label = suffix.replace("_reverse", " ←");
      const look = `${/reverse|joined/.exec(suffix) ?? ""} ${label.length > 6 ? "wide" : ""}`;
      const grow = sum ? Number((10000n * part) / sum) / 100 : 0;
      return `<span class="${look}" style="flex-grow: ${grow}" title="${shares[k]}"><b>${label}</b></span>`;
    });
    const described = `role="img" aria-label="${shares.join(", ")}"`;
    return `<div class="calc-bar"><span>${title}</span><div ${described}>${segments.join("")}</div></div>`;
  }

  function layers(spec, quantities) {
    const line = (name, width, cells) => `<tr><th scope="row">${name}</th><td>${width}</td>${cells.join("")}</tr>`;
    const cell = (name, { key, parts, sum }, count = 1n) => {
      if (!parts.has(name)) return "<td></td>";
      const part = parts.get(name);
      const each = count > 1n ? `<small>${group(count)} × ${group(part / count)}</small>` : "";
      const share = figure(`${name} ${key} share`, decimal(100n * part, sum), "%");
      return `<td>${number(`${name} ${key}`, part)}${each}<small>${share}</small></td>`;
    };
    const rows = blocks(spec).map(({ suffix, inputSize, count }) =>
      line(suffix, number(`${suffix} width`, inputSize), quantities.map((quantity) => cell(suffix, quantity, count))),
    );
    if (quantities.some(({ parts }) => parts.has("joined steps")))
      rows.push(line("joined steps", "", quantities.map((quantity) => cell("joined steps", quantity))));
    const sums = quantities.map(({ key, sum }) => `<td>${number(`total ${key}`, sum)}</td>`);
    const head = ["Layer", "Input width", ...quantities.map(({ title }) => title)];
    return (
      `<thead><tr>${head.map((title) => `<th scope="col">${title}</th>`).join("")}</tr></thead>` +
      `<tbody>${rows.join("")}</tbody><tfoot>${line("Total", "", sums)}</tfoot>`
    );
  }

  function matches(spec, target) {
    const { bias, D, L, directions } = spec;
    const options = [`bias="${bias}"`, L > 1n && `num_layers=${L}`, directions > 1n && "bidirectional=True"];
    const others = Object.keys(GATES).filter((cell) => cell !== spec.cell);
    return others.map((cell) => {
      const { H, parameters } = match(cell, spec, target, bias);
      const [size, which] = parameters < target ? [target - parameters, "fewer"] : [parameters - target, "more"];
      const mismatch = size ? `${decimal(100n * size, target)} % ${which}` : "exactly as many";
      const link = hash({ cell, H: String(H), P: "0" }).replaceAll("&", "&amp;");
      return row(
        `${NAMES[cell]} of width <a href="${link}">${number(`${cell} width`, H)}</a>`,
        `match("${cell}", ${[D, target, ...options.filter(Boolean)].join(", ")})`,
        number(`${cell} parameters`, parameters, "parameters") +
          `<small>${figure(`${cell} mismatch`, mismatch)}</small>`,
      );
    }).join("");
  }

  function show() {
    const spec = read();
    $("results").hidden = !spec;
    if (!spec) {
      for (const id of ["python", "totals", "bars", "layers", "matches"]) $(id).textContent = "";
      $("summary").textContent = "No result yet: a field above needs another value.";
      return;
    }
    const storage = spec.training && attempt(() => storageTerms(spec, spec.batch, spec.scheme, spec.dtype));
    const quantities = shared(spec, storage);
    $("summary").textContent = quantities.map(({ key, sum }) => `${group(sum)} ${UNITS[key]}`).join(", ") + ".";
    $("python").textContent = python(spec);
    $("totals").innerHTML = totals(spec, storage, quantities);
    $("bars").innerHTML = quantities.map(bar).join("");
    $("layers").innerHTML = layers(spec, quantities);
    $("matches").innerHTML = matches(spec, quantities[0].sum);
  }

  // The link -----------------------------------------------------------------------------------------

  // A hash without "=" belongs to a heading of the page and leaves the form alone.
  function restore() {
    if (!location.hash.includes("=")) return;
    form.reset();
    const unknown = [];
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
      const element = KEYS.includes(key) ? field[key] : {};
      if (element.type === "checkbox" && /^(on|off)$/.test(value)) element.checked = value === "on";
      else if (element.type === "text") element.value = value;
      else if ([...(element.options ?? [])].some((option) => option.value === value)) element.value = value;
      else unknown.push(`${key}=${value}`);
    }
    const note = `The link says ${unknown.join(", ")}, which is not known here and was left out.`;
    $("note").textContent = unknown.length ? note : "";
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      $("note").textContent = `${what} is copied.`;
    } catch {
      $("note").textContent = `This browser does not let the page copy. ${what} can be selected: ${text}`;
    }
  }

  for (const key of TYPED) {
    field[key].insertAdjacentHTML("afterend", `<span class="calc-error" id="calc-${key}-error"></span>`);
    field[key].setAttribute("aria-describedby", `calc-${key}-error`);
  }
  for (const link of document.querySelectorAll("a[data-state]")) link.href = `#${link.dataset.state}`;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    show();
    $("note").textContent = "";
    history.replaceState(null, "", hash());
  });
  $("copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + hash(), "The link"));
  $("copy-python").addEventListener("click", () => copy($("python").textContent, "The Python line"));
  addEventListener("hashchange", () => {
    const lost = $("results").contains(document.activeElement);
    restore();
    show();
    if (lost) field.cell.focus();
  });
  restore();
  show();
})();
