"use strict";
/* Draws what arms and requests do over time. */
const FilmTime = (() => {
  const { prepared, mark, scale, hatched, ticks, cursor } = FilmPen;

  function bars(pen, legs, x, y, height, look, [from, to] = [-Infinity, Infinity]) {
    for (const { part, start, end } of legs) {
      const [left, right] = [x(Math.max(start, from)), x(Math.min(end, to))];
      if (right <= left) continue;
      pen.fillStyle = look.parts[part];
      pen.fillRect(left, y, Math.max(right - left, 0.6), height);
    }
  }

  // The whole window: what the arms do, and which part of it the rows below show.
  function overview(canvas, model, t, look, view) {
    const { film } = model;
    const lane = 11;
    const { pen, width, height } = prepared(canvas, 14 + lane * film.arms.length + 18);
    const x = scale(0, film.length || 1, 6, width - 12);
    pen.fillStyle = look.panel;
    pen.fillRect(6, 8, width - 12, lane * film.arms.length + 6);
    film.arms.forEach((_, number) => {
      const y = 11 + lane * number;
      for (const work of film.work) if (work.arm === number) bars(pen, work.legs, x, y, lane - 2, look, [0, film.length]);
    });
    pen.strokeStyle = look.quiet;
    pen.lineWidth = 1;
    pen.strokeRect(x(view.from) + 0.5, 6.5, x(view.from + view.span) - x(view.from) - 1, lane * film.arms.length + 9);
    ticks(pen, x, 0, film.length, height - 3, width, look);
    cursor(pen, x(t), 2, height - 14, look);
  }

  const ROW = 19;
  const LABEL = 78;

  // A row for each arm, then one for each request in the order of their starts; those at work stay in the middle.
  function rows(canvas, model, t, look, view) {
    const { film } = model;
    const { pen, width, height } = prepared(canvas, view.height);
    const x = scale(view.from, view.span, LABEL, width - LABEL - 6);
    const lanes = film.arms.length;
    const top = 10 + lanes * ROW + 7;
    const bottom = height - 18;
    const clipped = (draw, from, to) => {
      pen.save();
      pen.beginPath();
      pen.rect(0, from, width, to - from);
      pen.clip();
      draw();
      pen.restore();
    };
    const label = (text, y, colour) => {
      pen.fillStyle = colour;
      pen.textBaseline = "middle";
      pen.fillText(text, 20, y);
    };
    const sheet = (draw) => {
      pen.save();
      pen.beginPath();
      pen.rect(LABEL, 0, width - LABEL - 6, height);
      pen.clip();
      draw();
      pen.restore();
    };
    for (let lane = 0; lane < lanes; lane += 1) {
      const y = 10 + lane * ROW;
      pen.fillStyle = look.panel;
      pen.fillRect(LABEL, y - 1, width - LABEL - 6, ROW - 2);
      label(lanes === 1 ? "arm" : `arm ${lane}`, y + ROW / 2 - 2, look.text);
      sheet(() => {
        for (const work of film.work) {
          if (work.arm !== lane || work.end < view.from || work.start > view.from + view.span) continue;
          bars(pen, work.legs, x, y + 1, ROW - 6, look);
          for (const [start, end] of behind(film, work)) hatched(pen, x(start), y + 1, x(end) - x(start), ROW - 6, look);
        }
      });
    }
    clipped(() => {
      const scroll = scrolled(film, t);
      const middle = Math.min((bottom - top) * 0.42, (bottom - top) / 2);
      film.requests.forEach((request, index) => {
        const y = top + middle + (index - scroll) * ROW;
        if (y < top - ROW || y > bottom) return;
        const is = request.start !== null && request.start <= t && t < request.completion;
        pen.fillStyle = look.ops[request.op];
        mark(pen, request.op, 9, y + ROW / 2 - 2, 4.2);
        pen.fill();
        label(request.sequence === null ? "–" : String(request.sequence), y + ROW / 2 - 2, is ? look.text : look.quiet);
        sheet(() => row(pen, request, x, y, film.length, look));
        if (is) {
          pen.strokeStyle = look.text;
          pen.lineWidth = 1;
          pen.strokeRect(2.5, y - 1.5, width - 6, ROW - 1);
        }
      });
    }, top, bottom);
    ticks(pen, x, view.from, view.span, height - 4, width, look);
    cursor(pen, x(t), 3, bottom, look);
  }

  // Which row is in the middle: between two starts, in between.
  function scrolled(film, t) {
    const starts = film.requests.filter(({ start }) => start !== null);
    const next = starts.findIndex(({ start }) => start > t);
    if (next === 0) return 0;
    if (next < 0) return Math.max(starts.length - 1, 0);
    const [from, to] = [starts[next - 1].start, starts[next].start];
    return next - 1 + (t - from) / (to - from);
  }

  function row(pen, request, x, y, length, look) {
    const line = y + ROW / 2 - 2;
    const begin = request.start ?? length;
    const waits = (from, to, height, colour) => {
      if (from === null || x(to) <= x(from)) return;
      pen.fillStyle = colour;
      pen.fillRect(x(from), line - height / 2, x(to) - x(from), height);
    };
    waits(request.arrival, request.acceptance ?? begin, 1, look.waits);
    waits(request.acceptance, begin, 4, look.waits);
    bars(pen, request.legs, x, y + 1, ROW - 6, look);
  }

  // When a work of the medium went on that no request waited for. Several arms have no buffer: all that they do for one is waited for.
  function behind(film, work) {
    if (work.gaps) return work.gaps;
    let gaps = [[work.start, work.end]];
    if (film.arms.length > 1) return (work.gaps = work.purpose === "request" ? [] : gaps);
    for (const { legs } of film.requests) {
      for (const { part, start, end } of legs) {
        if (!["seek", "head_switch", "settle", "rotation", "transfer"].includes(film.parts[part])) continue;
        if (end <= work.start || start >= work.end) continue;
        gaps = gaps.flatMap(([from, to]) => [[from, Math.min(to, start)], [Math.max(from, end), to]].filter(([a, b]) => b > a));
      }
    }
    work.gaps = gaps;
    return gaps;
  }

  return { overview, rows, LABEL };
})();
