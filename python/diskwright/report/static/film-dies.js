"use strict";
/* The film of an SSD: its channels and dies. */
const FilmDies = (() => {
  const { prepared, scale, hatched, ticks, cursor } = FilmPen;
  const LABEL = 78;
  // Heights, px: of the summary, of a row at most and at least, of the gap between two channels.
  const SUMMARY = 40;
  const [TALLEST, LOWEST, GAP] = [17, 4, 5];
  // Dies side by side in the plan, at most.
  const ACROSS = 16;

  const lanes = (film) => film.channels * (film.workers + 1);

  // How high the rows are for every channel and die to have one, within what is comfortable to look at.
  function rowsHeight(film) {
    const each = Math.min(Math.max(600 / lanes(film), LOWEST), TALLEST);
    return Math.round(lanes(film) * each + film.channels * GAP + 30);
  }

  // The whole window: how many dies are at what, and which part of it the rows below show.
  function overview(canvas, model, t, look, view) {
    const { film } = model;
    const { pen, width, height } = prepared(canvas, SUMMARY + 28);
    const x = scale(0, film.length || 1, 6, width - 12);
    pen.fillStyle = look.panel;
    pen.fillRect(6, 8, width - 12, SUMMARY);
    for (const { start, end, counts } of model.profile) {
      let y = 8 + SUMMARY;
      for (const [part, count] of counts) {
        const high = (SUMMARY * count) / model.ofWorker.length;
        pen.fillStyle = look.part(part);
        pen.fillRect(x(start), y - high, Math.max(x(end) - x(start), 0.5), high);
        y -= high;
      }
    }
    pen.strokeStyle = look.quiet;
    pen.lineWidth = 1;
    pen.strokeRect(x(view.from) + 0.5, 6.5, x(view.from + view.span) - x(view.from) - 1, SUMMARY + 3);
    ticks(pen, x, 0, film.length, height - 3, width, look);
    cursor(pen, x(t), 2, 8 + SUMMARY, look);
  }

  // A leg in a row, as far as the row shows it; hatched where the drive does it for itself.
  function bar(pen, leg, [left, right], x, y, height, look, own) {
    const [from, to] = [Math.max(x(leg.start), left), Math.min(x(leg.end), right)];
    if (to <= from) return;
    const wide = Math.max(to - from, 0.7);
    const thin = leg.name === "wait" ? 0.25 : leg.name === "command" ? 0.55 : 1;
    const high = Math.max(height * thin, 1.5);
    const top = y + (height - high) / 2;
    pen.fillStyle = look.part(leg.part);
    pen.fillRect(from, top, wide, high);
    if (own && wide > 2 && thin === 1) hatched(pen, from, top, wide, high, look);
  }

  // A row for each channel, and below it one for each of its dies.
  function rows(canvas, model, t, look, view) {
    const { film } = model;
    const { pen, width, height } = prepared(canvas, view.height);
    const x = scale(view.from, view.span, LABEL, width - LABEL - 6);
    const edges = [LABEL, width - 6];
    const bottom = height - 20;
    const row = (bottom - 8 - (film.channels - 1) * GAP) / lanes(film);
    const inner = Math.max(row - (row > 8 ? 2 : row > 5 ? 1 : 0.5), 1);
    const isSeen = ({ start, end }) => end > view.from && start < view.from + view.span;
    pen.textBaseline = "middle";
    for (let channel = 0, y = 8; channel < film.channels; channel += 1, y += row * (film.workers + 1) + GAP) {
      const active = model.carries(channel, t);
      pen.fillStyle = active ? look.text : look.quiet;
      pen.fillText(row * (film.workers + 1) < 60 && row < 9 ? `ch ${channel}` : `channel ${channel}`, 4, y + Math.max(row, 9) / 2);
      pen.fillStyle = look.panel;
      pen.fillRect(LABEL, y, width - LABEL - 6, inner);
      for (const leg of model.carried[channel]) {
        if (isSeen(leg)) bar(pen, leg, edges, x, y, inner, look, model.isOwn(leg.operation));
      }
      for (let worker = 0; worker < film.workers; worker += 1) {
        const lane = channel * film.workers + worker;
        const top = y + row * (worker + 1);
        if (row >= 10) {
          pen.fillStyle = model.legOf(lane, t) ? look.text : look.quiet;
          pen.fillText(`${film.worker} ${worker}`, 12, top + row / 2);
        }
        pen.fillStyle = look.lane;
        pen.fillRect(LABEL, top + inner - 0.5, width - LABEL - 6, 0.5);
        for (const operation of model.ofWorker[lane]) {
          if (!isSeen(operation)) continue;
          for (const leg of operation.legs) if (isSeen(leg)) bar(pen, leg, edges, x, top, inner, look, model.isOwn(operation));
        }
      }
    }
    ticks(pen, x, view.from, view.span, height - 4, width, look);
    cursor(pen, x(t), 3, bottom, look);
  }

  // The drive from above: a line for each channel, on it its dies, and what passes between them and the controller.
  function plan(canvas, model, t, look) {
    const { film } = model;
    const wide = canvas.clientWidth;
    const across = Math.min(film.workers, ACROSS);
    const down = Math.ceil(film.workers / across);
    const [left, bus] = [34, 9];
    const size = Math.min((wide - left - 6) / across, Math.max(440 / (film.channels * down) - bus / down, 9));
    const cell = Math.min(size, 64);
    const { pen } = prepared(canvas, 8 + film.channels * (down * cell + bus + 4));
    const step = (wide - left - 6) / across;
    for (let channel = 0; channel < film.channels; channel += 1) {
      const top = 4 + channel * (down * cell + bus + 4);
      const leg = model.carries(channel, t);
      pen.textBaseline = "middle";
      pen.fillStyle = leg ? look.text : look.quiet;
      pen.fillText(String(channel), 8, top + (down * cell + bus) / 2);
      for (let worker = 0; worker < film.workers; worker += 1) {
        const x = left + (worker % across) * step + 3;
        const y = top + bus + Math.floor(worker / across) * cell;
        chip(pen, model, channel * film.workers + worker, t, [x, y, step - 6, cell - 4], look);
      }
      line(pen, leg, t, [left - 12, top + 3, (place) => left + (place % across) * step + step / 2, wide - 6], look);
    }
  }

  // A die: filled as far as what it does is done.
  function chip(pen, model, lane, t, [x, y, wide, high], look) {
    const leg = model.legOf(lane, t);
    const outline = () => {
      pen.beginPath();
      pen.roundRect(x, y, wide, high, Math.min(4, high / 3));
    };
    outline();
    pen.fillStyle = look.chip;
    pen.fill();
    if (leg) {
      pen.save();
      pen.clip();
      pen.globalAlpha = 0.3;
      pen.fillStyle = look.part(leg.part);
      pen.fillRect(x, y, wide, high);
      pen.globalAlpha = 1;
      const done = (wide * (t - leg.start)) / (leg.end - leg.start);
      pen.fillRect(x, y, done, high);
      if (model.isOwn(leg.operation)) hatched(pen, x, y, wide, high, look);
      pen.restore();
    }
    outline();
    pen.lineWidth = 1;
    pen.strokeStyle = leg ? look.text : look.edge;
    pen.stroke();
    if (!leg || high < 18) return;
    const text = leg.operation.action;
    if (pen.measureText(text).width > wide - 8) return;
    // On its own ground: what is below is of any colour.
    const half = pen.measureText(text).width / 2 + 3;
    pen.fillStyle = look.ground;
    pen.fillRect(x + wide / 2 - half, y + high / 2 - 8, 2 * half, 16);
    pen.fillStyle = look.text;
    pen.fillText(text, x + wide / 2 - half + 3, y + high / 2);
  }

  // A channel, and what it carries: to a die, or from it.
  function line(pen, leg, t, [left, y, placeOf, right], look) {
    pen.lineWidth = 2;
    pen.strokeStyle = look.edge;
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(right, y);
    pen.stroke();
    if (!leg) return;
    const to = placeOf(leg.operation.worker);
    pen.lineWidth = leg.name === "command" ? 2 : 4;
    pen.strokeStyle = look.part(leg.part);
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(to, y);
    pen.lineTo(to, y + 6);
    pen.stroke();
    const share = (t - leg.start) / (leg.end - leg.start);
    pen.fillStyle = look.text;
    pen.beginPath();
    pen.arc(left + (to - left) * (leg.name === "data out" ? 1 - share : share), y, 4, 0, 2 * Math.PI);
    pen.fill();
  }

  return { overview, rows, plan, rowsHeight, LABEL };
})();

filmKinds.dies = (film) => {
  const model = diesModel(film);
  const words = diesWords(model);
  const themes = {
    dark: { lane: "#363d46", chip: "#1d2127", edge: "#5b6672" },
    light: { lane: "#d5dae0", chip: "#f1f4f6", edge: "#97a2ad" },
  };
  return {
    span: 250e3, speeds: [100, 1000, 5000, 20000, 50000, 200000], speed: 20000, lanes: 5, lines: 1,
    label: FilmDies.LABEL, height: FilmDies.rowsHeight(film),
    next: model.next, previous: model.previous, ...words,
    look: (isDark) => themes[isDark ? "dark" : "light"],
    draw(find, t, look, view) {
      FilmDies.plan(find("plan"), model, t, look);
      FilmDies.overview(find("overview"), model, t, look, view);
      FilmDies.rows(find("rows"), model, t, look, view);
    },
  };
};
