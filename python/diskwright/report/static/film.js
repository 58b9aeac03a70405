"use strict";
/* Plays films, whatever they show: what is drawn and told is up to their kinds. */
(() => {
  const { films } = JSON.parse(document.getElementById("film-data").textContent);
  const root = document.getElementById("film");
  if (!root) return;
  const views = films.map((film) => filmKinds[film.of](film));
  const find = (name) => root.querySelector(`[data-film="${name}"]`);
  const [whole, rows, play, clock, told, state] = ["overview", "rows", "play", "clock", "now", "state"].map(find);
  const speed = find("speed");
  const slider = find("slider");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");

  let shown = 0;
  let t = 0;
  let playing = false;
  let held = false;
  let printing = false;
  let from = 0;
  let before = null;

  const length = () => films[shown].length;
  // How much of the window the rows show, ns.
  const span = () => Math.min(views[shown].span, length() || 1);

  function look() {
    const isDark = dark.matches && !printing;
    const theme = reportThemes[isDark ? "dark" : "light"];
    const own = {
      ops: isDark ? ["#8fd0ff", "#ffc44d"] : ["#0060b8", "#c98a00"],
      ...views[shown].look(isDark),
    };
    const part = (name) => theme.parts[name] ?? theme.quiet;
    return { ...own, part, parts: films[shown].parts.map(part), text: theme.text, quiet: theme.quiet, ground: theme.ground, panel: theme.panel };
  }

  // Where the rows begin: with the cursor at a third of them, as far as the window reaches.
  const wanted = () => Math.min(Math.max(t - span() / 3, 0), length() - span());

  const padded = (number, digits) => String(number).padStart(digits, "0");
  function time(t) {
    const ns = films[shown].from + Math.floor(t);
    return `${Math.floor(ns / 1e9).toLocaleString("en-US")}.${padded(Math.floor(ns % 1e9 / 1e3), 6)} s`;
  }

  function draw() {
    const shows = views[shown];
    const colours = look();
    if (!held) from = calm.matches || printing || Math.abs(wanted() - from) > span() ? wanted() : from + (wanted() - from) * 0.25;
    root.style.setProperty("--film-lanes", shows.lanes);
    root.style.setProperty("--film-lines", shows.lines);
    rows.style.height = shows.height ? `${shows.height}px` : "";
    shows.draw(find, t, colours, { from, span: span(), height: rows.clientHeight });
    clock.textContent = time(t);
    find("since").textContent = shows.since(t);
    const lines = shows.now(t);
    told.replaceChildren(...lines.map(({ text, data }) => {
      const line = document.createElement("span");
      line.textContent = text;
      Object.assign(line.dataset, data);
      return line;
    }));
    state.textContent = shows.state(t);
    Object.assign(root.dataset, { time: t, playing });
    slider.setAttribute("aria-valuenow", Math.round(t / 1e3) / 1e3);
    slider.setAttribute("aria-valuetext", `${time(t)}: ${lines[0].text}`);
    for (const swatch of root.querySelectorAll("[data-part-swatch]")) {
      swatch.style.background = colours.part(swatch.dataset.partSwatch);
      swatch.parentElement.hidden = !films[shown].parts.includes(swatch.dataset.partSwatch);
    }
    for (const swatch of root.querySelectorAll("[data-op-swatch]")) swatch.style.background = colours.ops[swatch.dataset.opSwatch];
  }

  // Another film: what is of other kinds is hidden, and it has its own speeds.
  function show(number) {
    shown = number;
    const { of } = films[shown];
    for (const part of root.querySelectorAll("[data-kind]")) part.hidden = part.dataset.kind !== of;
    const { speeds, speed: usual } = views[shown];
    const names = speeds.map((times) => new Option(`1 : ${times.toLocaleString("en-US")}`, times, times === usual, times === usual));
    if (root.dataset.shows !== of) speed.replaceChildren(...names);
    root.dataset.shows = of;
    slider.setAttribute("aria-valuemax", length() / 1e6);
    const jumps = views[number].jumps ?? [];
    find("slowest").replaceChildren(...jumps.map(({ text, at }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.dataset.at = at;
      button.addEventListener("click", () => { pause(); go(at); });
      return button;
    }));
    from = wanted();
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
    go(views[shown][way](t));
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
  dragged(rows, (event) => from + Math.min(Math.max(share(event, views[shown].label, 6), 0), 1) * span());

  for (const button of root.querySelectorAll("[data-disk]")) {
    button.addEventListener("click", () => {
      show(Number(button.dataset.disk));
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
  show(0);
  // Where there is most to see of the animation.
  t = views[0].jumps?.[0]?.at ?? 0;
  from = wanted();
  draw();
})();
