"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  // A trace may be like another one of its chart but for what it says itself; its colour is a tone of the theme, or that of its
  // variant.
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

  function toned({ tone, ...trace }, theme) {
    if (trace.variant !== undefined) return varied(trace, theme);
    if (tone === undefined) return trace;
    const color = theme.colours[tone % theme.colours.length];
    if (trace.type === "scatter") return { ...trace, line: { ...trace.line, color }, marker: { color } };
    return { ...trace, marker: { ...trace.marker, color } };
  }

  // Whose a value is stands before it; the library would put it into a box of its own, in colours that are hard to read.
  function told(trace) {
    const { name, hovertemplate } = trace;
    if (!name || !hovertemplate || hovertemplate.includes("<extra>")) return trace;
    return { ...trace, hovertemplate: `%{fullData.name}: ${hovertemplate}<extra></extra>` };
  }

  // Draws every chart in the page's colours; zoom and hidden curves stay as they are.
  function draw(theme, width) {
    for (const swatch of swatches) {
      const { color, dash } = look(swatch.dataset.swatch, theme);
      swatch.firstElementChild.setAttribute("stroke", color);
      swatch.firstElementChild.setAttribute("stroke-dasharray", dash[1]);
    }
    for (const plot of plots) {
      const { data, layout, height } = charts[plot.dataset.chart];
      const shown = { ...layout, template: template(theme), height, uirevision: "kept" };
      if (width) Object.assign(shown, { width });
      else Object.assign(shown, { autosize: true });
      Plotly.react(plot, data.map((trace) => told(toned(trace, theme))), shown, config);
    }
  }

  const onScreen = () => draw(dark.matches ? themes.dark : themes.light);
  onScreen();
  dark.addEventListener("change", onScreen);
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

  document.getElementById("copy").addEventListener("click", async () => {
    copied.textContent = (await copy()) ? "copied" : "selected: copy it with the keyboard";
  });
})();
