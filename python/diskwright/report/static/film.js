"use strict";
(() => {
  const { tones, films } = JSON.parse(document.getElementById("film-data").textContent);
  const root = document.getElementById("film");
  if (!root) return;
  const models = films.map(filmModel);
  const words = models.map(filmWords);
  const find = (name) => root.querySelector(`[data-film="${name}"]`);
  const [stage, side, whole, rows, play, clock, told, state] =
    ["platter", "stack", "overview", "rows", "play", "clock", "now", "state"].map(find);
  const speed = find("speed");
  const slider = find("slider");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // How much of the window the rows show, ns.
  const SPAN = 60e6;

  let shown = 0;
  let t = 0;
  let playing = false;
  let held = false;
  let printing = false;
  let from = 0;
  let before = null;

  const length = () => models[shown].film.length;
  const span = () => Math.min(SPAN, length() || 1);

  function look() {
    const isDark = dark.matches && !printing;
    const theme = reportThemes[isDark ? "dark" : "light"];
    const parts = models[shown].film.parts.map((name) => theme.colours[tones[name] % theme.colours.length]);
    const own = isDark
      ? { ops: ["#8fd0ff", "#ffc44d"], metal: ["#333a43", "#454e59", "#2d333b", "#414a54", "#333a43"], zone: "rgba(255,255,255,0.045)",
          zoneOther: "rgba(0,0,0,0.10)", ring: "rgba(255,255,255,0.10)", tick: "#8b96a3", index: "#c3ccd6", hub: "#1d2127", screw: "#4b5560",
          edge: "#5b6672", arm: "rgba(150,162,175,0.88)", armEdge: "#77828e", waits: "#7b8794" }
      : { ops: ["#0060b8", "#c98a00"], metal: ["#e6eaee", "#f7f9fa", "#dbe1e7", "#f1f4f6", "#e6eaee"], zone: "rgba(30,50,80,0.050)",
          zoneOther: "rgba(255,255,255,0.25)", ring: "rgba(30,50,80,0.13)", tick: "#7c8793", index: "#3c4650", hub: "#cbd3db", screw: "#97a2ad",
          edge: "#97a2ad", arm: "rgba(120,132,145,0.85)", armEdge: "#5f6b77", waits: "#9aa5b0" };
    return { ...own, parts, text: theme.text, quiet: theme.quiet, ground: theme.ground, panel: theme.panel };
  }

  // Where the rows begin: with the cursor at a third of them, as far as the window reaches.
  const wanted = () => Math.min(Math.max(t - span() / 3, 0), length() - span());

  function draw() {
    const model = models[shown];
    const colours = look();
    if (!held) from = calm.matches || printing || Math.abs(wanted() - from) > span() ? wanted() : from + (wanted() - from) * 0.25;
    root.style.setProperty("--film-arms", model.film.arms.length);
    const view = { from, span: span(), height: rows.clientHeight };
    FilmDisk.platter(stage, model, t, colours);
    FilmDisk.stack(side, model, t, colours);
    FilmTime.overview(whole, model, t, colours, view);
    FilmTime.rows(rows, model, t, colours, view);
    const say = words[shown];
    clock.textContent = say.clock(t);
    find("since").textContent = `${say.ms(t)} of ${say.ms(length())} ms`;
    const lines = say.now(t);
    told.replaceChildren(...lines.map(({ text, request, leg }) => {
      const line = document.createElement("span");
      line.textContent = text;
      if (leg) Object.assign(line.dataset, { of: request ? request.sequence : "", part: model.film.parts[leg.part], start: leg.start, end: leg.end });
      return line;
    }));
    state.textContent = `${say.place(t)}; ${say.queue(t)}`;
    Object.assign(root.dataset, { time: t, playing });
    slider.setAttribute("aria-valuenow", Math.round(t / 1e3) / 1e3);
    slider.setAttribute("aria-valuetext", `${say.clock(t)}: ${lines[0].text}`);
    for (const swatch of root.querySelectorAll("[data-part-swatch]")) {
      swatch.style.background = colours.parts[model.film.parts.indexOf(swatch.dataset.partSwatch)];
    }
    for (const swatch of root.querySelectorAll("[data-op-swatch]")) swatch.style.background = colours.ops[swatch.dataset.opSwatch];
  }

  // Draws as long as anything moves.
  let asked = 0;
  function frame(at) {
    asked = 0;
    if (playing) {
      if (before !== null) t = Math.min(t + ((at - before) * 1e6) / Number(speed.value), length());
      before = at;
      if (t >= length()) pause();
    }
    draw();
    if (playing || (!held && Math.abs(wanted() - from) > span() / 2000)) ask();
  }
  const ask = () => { asked ||= requestAnimationFrame(frame); };

  function pause() {
    playing = false;
    before = null;
    play.setAttribute("aria-pressed", "false");
    play.textContent = "▶ Play";
  }
  function start() {
    if (t >= length()) t = 0;
    playing = true;
    before = null;
    play.setAttribute("aria-pressed", "true");
    play.textContent = "❚❚ Pause";
    ask();
  }
  function go(to) {
    t = Math.min(Math.max(to, 0), length());
    ask();
  }
  function step(way) {
    pause();
    go(models[shown][way](t));
  }

  play.addEventListener("click", () => { if (playing) { pause(); ask(); } else start(); });
  find("previous").addEventListener("click", () => step("previous"));
  find("next").addEventListener("click", () => step("next"));
  speed.addEventListener("change", ask);

  const keys = {
    " ": () => play.click(), ArrowLeft: () => step("previous"), ArrowRight: () => step("next"),
    Home: () => { pause(); go(0); }, End: () => { pause(); go(length()); },
  };
  root.addEventListener("keydown", (event) => {
    const own = event.target.closest("button, select");
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey || (own && (event.key === " " || own === speed))) return;
    event.preventDefault();
    keys[event.key]();
  });

  // Along the whole window, or within what the rows show, which stand still meanwhile.
  function dragged(canvas, time) {
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held = canvas === rows;
      pause();
      go(time(event));
      event.preventDefault();
      slider.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (event) => { if (canvas.hasPointerCapture(event.pointerId)) go(time(event)); });
    const let_go = () => { held = false; ask(); };
    canvas.addEventListener("pointerup", let_go);
    canvas.addEventListener("pointercancel", let_go);
  }
  const share = (event, left, right) => {
    const box = event.target.getBoundingClientRect();
    return (event.clientX - box.left - left) / (box.width - left - right);
  };
  dragged(whole, (event) => share(event, 6, 6) * length());
  dragged(rows, (event) => from + Math.min(Math.max(share(event, FilmTime.LABEL, 6), 0), 1) * span());

  for (const button of root.querySelectorAll("[data-disk]")) {
    button.addEventListener("click", () => {
      shown = Number(button.dataset.disk);
      for (const other of root.querySelectorAll("[data-disk]")) other.setAttribute("aria-pressed", String(other === button));
      go(t);
    });
  }

  dark.addEventListener("change", ask);
  new ResizeObserver(ask).observe(root);
  addEventListener("beforeprint", () => { pause(); printing = true; draw(); });
  addEventListener("afterprint", () => { printing = false; ask(); });
  // What is not seen need not move.
  new IntersectionObserver(([entry]) => { if (!entry.isIntersecting && playing) { pause(); ask(); } }).observe(root);
  slider.setAttribute("aria-valuemax", length() / 1e6);
  draw();
})();
