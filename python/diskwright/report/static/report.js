"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  // A trace may be like another one of its chart but for what it says itself; its colour is a tone of the theme, that of a part of a
  // request's time, or that of its variant.
  for (const chart of Object.values(charts)) {
    chart.data = chart.data.map(({ like, ...trace }) => (like === undefined ? trace : { ...chart.data[like], ...trace }));
  }
  const plots = [...document.querySelectorAll("[data-chart]")];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // Width of a chart on a printed A4 page, in CSS pixels.
  const PRINTED = 680;
  const themes = {
    // In the order of Okabe and Ito's: the colour-blind tell them apart, and all stand out from the ground.
    light: {
      text: "#1b1f24", quiet: "#545d68", grid: "#e3e7eb", line: "#aeb6bf", panel: "#f6f7f9", ground: "#ffffff",
      colours: ["#0b5cad", "#d05600", "#00916e", "#8e2a6b", "#4a3d00", "#3898d3", "#2b1a66", "#c56d9f"],
    },
    dark: {
      text: "#e4e8ed", quiet: "#a3adb8", grid: "#2b3138", line: "#59636e", panel: "#1d2127", ground: "#14171b",
      colours: ["#6cb2f5", "#ef8a3a", "#43d1a5", "#d983b8", "#f6ea94", "#d4ecff", "#8f74ea", "#8f9a6a"],
    },
  };

  // Each part of a request's time has one colour on all pages.
  const parts = JSON.parse(document.getElementById("part-colours").textContent);
  Object.values(themes).forEach((theme, place) => {
    theme.parts = Object.fromEntries(Object.entries(parts).map(([name, colours]) => [name, colours[place]]));
  });

  // What else is drawn has the same colours.
  globalThis.reportThemes = themes;

  function template(theme) {
    const axis = {
      gridcolor: theme.grid, linecolor: theme.line, zerolinecolor: theme.line, tickcolor: theme.line,
      automargin: true, title: { font: { size: 13 }, standoff: 8 }, minor: { gridcolor: theme.grid },
      exponentformat: "none", separatethousands: true,
    };
    return {
      layout: {
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: theme.colours,
        font: { family: 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif', size: 12.5, color: theme.text },
        xaxis: axis, yaxis: axis,
        legend: { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom", bgcolor: "rgba(0,0,0,0)" },
        hoverlabel: { bgcolor: theme.panel, bordercolor: theme.line, font: { color: theme.text }, namelength: -1 },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.quiet, activecolor: theme.text },
        margin: { l: 60, r: 16, t: 30, b: 48 },
      },
      data: {
        bar: [{ marker: { line: { color: theme.ground } } }],
        heatmap: [{ colorbar: { outlinewidth: 0, tickcolor: theme.line, thickness: 16 } }],
      },
    };
  }

  // The page sends nothing anywhere, and offers nothing that would.
  const config = {
    displaylogo: false, doubleClick: "reset", responsive: true, displayModeBar: true, modeBarButtonsToRemove: ["select2d", "lasso2d"],
    showSendToCloud: false, plotlyServerURL: "", doubleClickDelay: 500,
  };

  // Six colours by four dashes: variants that share a colour differ in their dashes.
  const HUES = 6;
  const DASHES = [["solid", ""], ["dash", "8 5"], ["dot", "3 3"], ["dashdot", "9 3 3 3"]];
  const SYMBOLS = ["circle", "diamond", "square", "x"];
  const swatches = [...document.querySelectorAll("[data-swatch]")];
  // Variants that are drawn have their places in the order of the page.
  const variants = [...new Set(swatches.map((swatch) => swatch.dataset.swatch))];
  const hidden = new Set();

  function look(variant, theme) {
    const place = variants.indexOf(String(variant));
    const row = Math.floor(place / HUES) % DASHES.length;
    return { color: theme.colours[place % HUES], dash: DASHES[row], symbol: SYMBOLS[row] };
  }

  function varied({ variant, ...trace }, theme) {
    const { color, dash, symbol } = look(variant, theme);
    const error = trace.error_x && { error_x: { ...trace.error_x, color } };
    const line = { ...trace.line, color, dash: dash[0] };
    return { ...trace, ...error, line, marker: { ...trace.marker, color, symbol }, visible: !hidden.has(String(variant)) };
  }

  function toned({ tone, part, ...trace }, theme) {
    if (trace.variant !== undefined) return varied(trace, theme);
    if (tone === undefined && part === undefined) return trace;
    const color = part === undefined ? theme.colours[tone % theme.colours.length] : theme.parts[part] ?? theme.quiet;
    if (trace.type === "scatter") return { ...trace, line: { ...trace.line, color }, marker: { ...trace.marker, color } };
    return { ...trace, marker: { ...trace.marker, color } };
  }

  // Whose a value is stands before it; the library would put it into a box of its own, in colours that are hard to read.
  function told(trace) {
    const { name, hovertemplate } = trace;
    if (!name || !hovertemplate || hovertemplate.includes("<extra>")) return trace;
    return { ...trace, hovertemplate: `%{fullData.name}: ${hovertemplate}<extra></extra>` };
  }

  // On a page narrower than this the legends beside panels would leave no room for them, CSS pixels.
  const NARROW = 560;
  const ENTRY = 19;
  const PANEL = 150;

  // Panels with their legends above them, each as high as its entries.
  function narrowed(data, layout, height) {
    const legends = Object.keys(layout).filter((key) => /^legend\d*$/.test(key) && layout[key].x > 1);
    if (!legends.length) return slim(data, layout, height);
    const rows = legends.map((name) => (layout.showlegend === false ? 0 : data.filter((trace) => (trace.legend ?? "legend") === name).length));
    const above = rows.map((count) => 12 + ENTRY * count);
    const whole = above.reduce((sum, own) => sum + own + PANEL, 0);
    const made = { ...layout, margin: { ...layout.margin, t: 24 } };
    let y = 1;
    legends.forEach((name, place) => {
      const axis = name.replace("legend", "yaxis");
      const top = y - above[place] / whole;
      y = top - PANEL / whole;
      made[axis] = { ...layout[axis], domain: [Math.max(y, 0), top] };
      made[name] = { ...layout[name], x: 0, xanchor: "left", y: top, yanchor: "bottom", font: { size: 11 } };
    });
    return { data, layout: made, height: whole + 80 };
  }

  // The scale of the colours above the map, and names of rows in small letters.
  function slim(data, layout, height) {
    const isMap = data.some(({ type }) => type === "heatmap");
    const rows = Object.fromEntries(Object.entries(layout).filter(([key]) => /^yaxis/.test(key))
      .map(([key, axis]) => [key, axis.tickfont ? axis : { ...axis, tickfont: { size: 10 } }]));
    const bar = { orientation: "h", x: 0.5, xanchor: "center", y: 1.02, yanchor: "bottom", len: 1, thickness: 12 };
    const slimmer = (trace) => (trace.type !== "heatmap" ? trace
      : { ...trace, colorbar: { ...trace.colorbar, ...bar, title: { ...trace.colorbar?.title, side: "top" } } });
    const margin = isMap ? { margin: { ...layout.margin, t: 84 } } : {};
    // Names stand below each other; a chart has room for three.
    const names = layout.showlegend ? Math.max(data.filter(({ name }) => name).length - 3, 0) : 0;
    const more = isMap ? 64 : ENTRY * names;
    return { data: data.map(slimmer), layout: { ...layout, ...rows, ...margin }, height: height + more };
  }

  // Round numbers within a range, two at least.
  function rounds(low, high) {
    const most = (high - low) / 2;
    const power = 10 ** Math.floor(Math.log10(most));
    const step = power * [5, 2, 1].find((times) => times * power <= most * (1 + 1e-9));
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, place) => Number(((first + place) * step).toPrecision(12)));
  }

  // One tick gives no scale: an axis of numbers that would have fewer than two has others, of its own.
  function ticked(plot) {
    const full = plot._fullLayout;
    const settings = {};
    for (const name of Object.keys(full).filter((key) => /^[xy]axis\d*$/.test(key))) {
      const axis = full[name];
      if (!["linear", "log"].includes(axis.type) || axis.tickmode === "array" || !axis.showticklabels) continue;
      const [low, high] = [Math.min(...axis.range), Math.max(...axis.range)];
      const within = (axis._vals ?? []).filter(({ text, x }) => text && x >= low - 1e-9 * (high - low) && x <= high + 1e-9 * (high - low));
      if (within.length >= 2 || !(high > low)) continue;
      const ends = axis.type === "log" ? [10 ** low, 10 ** high] : [low, high];
      Object.assign(settings, { [`${name}.tickmode`]: "array", [`${name}.tickvals`]: rounds(...ends), [`${name}.tickformat`]: ",~g" });
    }
    return Object.keys(settings).length ? Plotly.relayout(plot, settings) : plot;
  }

  // Draws every chart in the page's colours; zoom and hidden curves stay as they are.
  function draw(theme, width) {
    for (const swatch of swatches) {
      const { color, dash } = look(swatch.dataset.swatch, theme);
      swatch.firstElementChild.setAttribute("stroke", color);
      swatch.firstElementChild.setAttribute("stroke-dasharray", dash[1]);
    }
    for (const plot of plots) drawOne(plot, theme, width);
  }

  function drawOne(plot, theme, width) {
    const chart = charts[plot.dataset.chart];
    const isNarrow = (width ?? plot.clientWidth) < NARROW;
    // A scale of colours that turns leaves its old labels behind.
    if (plot.dataset.narrow !== String(isNarrow)) for (const scale of plot.querySelectorAll(".colorbar")) scale.remove();
    plot.dataset.narrow = String(isNarrow);
    const { data, layout, height } = isNarrow ? narrowed(chart.data, chart.layout, chart.height) : chart;
    const shown = { ...layout, template: template(theme), height, uirevision: "kept" };
    if (width) Object.assign(shown, { width });
    else Object.assign(shown, { autosize: true });
    Plotly.react(plot, data.map((trace) => told(toned(trace, theme))), shown, config).then(ticked);
  }

  const onScreenTheme = () => (dark.matches ? themes.dark : themes.light);
  const onScreen = () => draw(onScreenTheme());
  onScreen();
  dark.addEventListener("change", onScreen);
  // Another range has other ticks.
  for (const plot of plots) {
    plot.on("plotly_relayout", (changed) => {
      if (Object.keys(changed).some((key) => key.includes("range"))) drawOne(plot, onScreenTheme());
    });
  }
  const isNarrow = () => plots.map((plot) => plot.clientWidth < NARROW).join();
  let narrow = isNarrow();
  addEventListener("resize", () => {
    if (narrow !== (narrow = isNarrow())) onScreen();
  });
  addEventListener("beforeprint", () => draw(themes.light, PRINTED));
  addEventListener("afterprint", onScreen);

  // Buttons that show one of the traces of a chart each.
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => {
      const group = [...button.parentElement.querySelectorAll("[data-view]")];
      group.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      const { data } = charts[button.dataset.of];
      data.forEach((trace, index) => { trace.visible = index === Number(button.dataset.view); });
      onScreen();
    });
  }

  // The keys hide a variant in every chart, or show it again.
  const keys = [...document.querySelectorAll("button[data-variant]")];
  for (const button of keys) {
    button.addEventListener("click", () => {
      const { variant } = button.dataset;
      if (!hidden.delete(variant)) hidden.add(variant);
      keys.filter((other) => other.dataset.variant === variant)
        .forEach((other) => other.setAttribute("aria-pressed", String(!hidden.has(variant))));
      onScreen();
    });
  }

  const copied = document.getElementById("copied");
  const spec = document.getElementById("spec");

  // Where a page was opened as a file, browsers may have no clipboard for it: then what is selected is copied.
  async function copy() {
    try {
      await navigator.clipboard.writeText(spec.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(spec);
      return document.execCommand("copy");
    }
  }

  document.getElementById("copy")?.addEventListener("click", async () => {
    copied.textContent = (await copy()) ? "copied" : "selected: copy it with the keyboard";
  });
})();
