"use strict";
/* Draws a disk at an instant: the platter from above, the stack from the side, the requests over time. */
const FilmDraw = (() => {
  const TURN = 2 * Math.PI;
  const FONT = '12px system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif';

  // A canvas as large as it is shown, in the device's own pixels.
  function prepared(canvas, height) {
    const width = canvas.clientWidth;
    const scale = Math.max(globalThis.devicePixelRatio || 1, 1);
    const [w, h] = [Math.round(width * scale), Math.round((height ?? width) * scale)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, w, h);
    pen.font = FONT;
    pen.lineCap = "butt";
    return { pen, width, height: h / scale };
  }

  // A circle for a read, a diamond for a write.
  function mark(pen, op, x, y, size) {
    pen.beginPath();
    if (op === 0) pen.arc(x, y, size, 0, TURN);
    else {
      const reach = size * 1.35;
      pen.moveTo(x, y - reach);
      pen.lineTo(x + reach, y);
      pen.lineTo(x, y + reach);
      pen.lineTo(x - reach, y);
      pen.closePath();
    }
  }

  // From the outermost cylinder to the innermost one: the denser end of the drive is outside.
  function radii(film, outer) {
    const inner = outer * 0.42;
    const sparse = film.zones[0][2] < film.zones[film.zones.length - 1][2];
    const last = Math.max(film.cylinders - 1, 1);
    return (cylinder) => {
      const share = cylinder / last;
      return outer - (outer - inner) * (sparse ? 1 - share : share);
    };
  }

  // The platter's radius and its middle: there is room for the pivot of one arm below on the right, or of others all around.
  function sizes(film, size) {
    if (film.arms.length > 1) return { outer: size * 0.34, middle: size / 2 };
    const outer = size * 0.415;
    return { outer, middle: outer + size * 0.012 };
  }

  function platter(canvas, model, t, look) {
    const { pen, width: size } = prepared(canvas);
    const { film } = model;
    const { outer, middle } = sizes(film, size);
    const radius = radii(film, outer);
    const turned = model.turned(t);
    const turn = (angle) => TURN * (angle - (turned - Math.floor(turned)));
    pen.save();
    pen.translate(middle, middle);
    disk(pen, film, outer, radius, turn, look);
    const arms = film.arms.map((_, number) => model.arm(number, t));
    arms.forEach((arm, number) => sectors(pen, model, arm, film.arms[number], radius, turn, t, look));
    dots(pen, model, t, radius, turn, look);
    arms.forEach((arm, number) => {
      pen.save();
      pen.rotate(TURN * film.arms[number].angle);
      actuator(pen, arm, radius, outer, size, look);
      pen.restore();
    });
    pen.restore();
  }

  function disk(pen, film, outer, radius, turn, look) {
    const rim = outer * 1.025;
    const shine = pen.createConicGradient(0.7, 0, 0);
    look.metal.forEach((colour, index) => shine.addColorStop(index / (look.metal.length - 1), colour));
    pen.beginPath();
    pen.arc(0, 0, rim, 0, TURN);
    pen.fillStyle = shine;
    pen.fill();
    pen.lineWidth = 1;
    pen.strokeStyle = look.edge;
    pen.stroke();
    // Zones: every other one a shade darker.
    film.zones.forEach(([first, last], index) => {
      const [one, other] = [radius(first), radius(last)];
      pen.beginPath();
      pen.arc(0, 0, (one + other) / 2, 0, TURN);
      pen.lineWidth = Math.max(Math.abs(one - other), 1);
      pen.strokeStyle = index % 2 ? look.zone : look.zoneOther;
      pen.stroke();
    });
    pen.lineWidth = 1;
    pen.strokeStyle = look.ring;
    for (const [first] of film.zones) {
      pen.beginPath();
      pen.arc(0, 0, radius(first), 0, TURN);
      pen.stroke();
    }
    // The index, where angles begin, and lesser marks to see it turn.
    for (let index = 0; index < 12; index += 1) {
      const angle = turn(index / 12);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const from = index ? outer * 0.985 : Math.min(radius(0), radius(film.cylinders - 1));
      pen.beginPath();
      pen.moveTo(cos * from, sin * from);
      pen.lineTo(cos * rim, sin * rim);
      pen.lineWidth = index ? 1 : 1.5;
      pen.strokeStyle = index ? look.tick : look.index;
      pen.stroke();
    }
    const hub = outer * 0.27;
    pen.beginPath();
    pen.arc(0, 0, hub, 0, TURN);
    pen.fillStyle = look.hub;
    pen.fill();
    pen.strokeStyle = look.edge;
    pen.lineWidth = 1;
    pen.stroke();
    for (let index = 0; index < 6; index += 1) {
      const angle = turn(index / 6 + 1 / 12);
      pen.beginPath();
      pen.arc(Math.cos(angle) * hub * 0.68, Math.sin(angle) * hub * 0.68, hub * 0.1, 0, TURN);
      pen.fillStyle = look.screw;
      pen.fill();
    }
    pen.beginPath();
    pen.arc(0, 0, hub * 0.26, 0, TURN);
    pen.fillStyle = look.screw;
    pen.fill();
  }

  // The sectors that are waited for, and of those the ones that have passed under the head.
  function sectors(pen, model, arm, { angle }, radius, turn, t, look) {
    if (!arm.target) return;
    const { cylinder, from, size } = arm.target;
    const at = radius(cylinder);
    // However few they are, they can be seen.
    const least = 5 / (TURN * at);
    const arc = (start, length, width, colour) => {
      pen.beginPath();
      pen.arc(0, 0, at, turn(start), turn(start + length));
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.stroke();
    };
    const shown = Math.max(Math.min(size, 1), least);
    const begin = from - Math.max(shown - size, 0) / 2;
    arc(begin, shown, 9, look.ground);
    arc(begin, shown, 6, look.parts[arm.leg.part]);
    if (!arm.passes) {
      arc(begin, shown, 3, look.ground);
      return;
    }
    const head = model.turned(t) + angle;
    const passed = head - from - Math.floor(head - from);
    const left = Math.max(size - passed, 0);
    if (left > 0) arc(from + passed, Math.max(left, least / 2), 3, look.ground);
  }

  function dots(pen, model, t, radius, turn, look) {
    const put = ({ op, place: [cylinder, , angle] }, size) => {
      const at = radius(cylinder);
      mark(pen, op, Math.cos(turn(angle)) * at, Math.sin(turn(angle)) * at, size);
    };
    pen.lineWidth = 1.2;
    for (const request of model.waiting(t)) {
      put(request, 4);
      pen.fillStyle = look.ops[request.op];
      pen.fill();
      pen.strokeStyle = look.ground;
      pen.stroke();
    }
    for (const { request } of model.active(t)) {
      put(request, 6);
      pen.fillStyle = look.ops[request.op];
      pen.fill();
      pen.strokeStyle = look.text;
      pen.lineWidth = 2;
      pen.stroke();
    }
  }

  // The head is on the line from the spindle along which the platter is read: that is exact. Of the arm, the pivot stands still.
  function actuator(pen, arm, radius, outer, size, look) {
    const head = radius(arm.cylinder);
    const pivot = { x: outer * 0.74, y: outer * 1.2 };
    if (arm.leg && moves(arm)) {
      pen.beginPath();
      pen.moveTo(radius(arm.leg.from.cylinder), 0);
      pen.lineTo(radius(arm.leg.to.cylinder), 0);
      pen.lineWidth = 2;
      pen.strokeStyle = look.parts[arm.leg.part];
      pen.stroke();
    }
    const way = Math.atan2(-pivot.y, head - pivot.x);
    const length = Math.hypot(pivot.y, head - pivot.x);
    pen.save();
    pen.translate(pivot.x, pivot.y);
    pen.rotate(way);
    const wide = size * 0.034;
    pen.beginPath();
    pen.moveTo(-wide * 0.5, -wide);
    pen.lineTo(length * 0.78, -wide * 0.34);
    pen.lineTo(length - 3, -wide * 0.16);
    pen.lineTo(length - 3, wide * 0.16);
    pen.lineTo(length * 0.78, wide * 0.34);
    pen.lineTo(-wide * 0.5, wide);
    pen.closePath();
    // A hole, as in the arms of real drives.
    pen.moveTo(length * 0.2, -wide * 0.42);
    pen.lineTo(length * 0.2, wide * 0.42);
    pen.lineTo(length * 0.62, wide * 0.12);
    pen.lineTo(length * 0.62, -wide * 0.12);
    pen.closePath();
    pen.fillStyle = look.arm;
    pen.fill("evenodd");
    pen.lineWidth = 1;
    pen.strokeStyle = look.armEdge;
    pen.stroke();
    pen.beginPath();
    pen.arc(0, 0, wide * 1.35, 0, TURN);
    pen.fillStyle = look.arm;
    pen.fill();
    pen.stroke();
    pen.beginPath();
    pen.arc(0, 0, wide * 0.5, 0, TURN);
    pen.fillStyle = look.screw;
    pen.fill();
    pen.restore();
    // The head itself, in the colour of what it does.
    const colour = arm.leg ? look.parts[arm.leg.part] : look.quiet;
    if (arm.passes) {
      pen.beginPath();
      pen.arc(head, 0, 13, 0, TURN);
      pen.globalAlpha = 0.28;
      pen.fillStyle = colour;
      pen.fill();
      pen.globalAlpha = 1;
    }
    pen.beginPath();
    pen.arc(head, 0, 6, 0, TURN);
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = look.ground;
    pen.lineWidth = 2;
    pen.stroke();
  }

  const moves = ({ leg }) => leg.from.cylinder !== leg.to.cylinder;

  // The stack of platters from the side, below what it is the side of: which head is active, and how far in it is.
  function stack(canvas, model, t, look) {
    const { film } = model;
    const platters = Math.ceil(film.surfaces / 2);
    const gap = Math.max(Math.min(26, 150 / platters), 13);
    const { pen, width } = prepared(canvas, 14 + gap * platters);
    const { outer, middle } = sizes(film, width);
    const radius = radii(film, outer);
    const height = gap * platters;
    const hub = outer * 0.27;
    pen.lineWidth = 1;
    pen.strokeStyle = look.edge;
    for (let index = 0; index < platters; index += 1) {
      const y = 7 + gap * (index + 0.5);
      pen.fillStyle = look.metal[0];
      pen.beginPath();
      pen.roundRect(middle - outer * 1.025, y - 2, outer * 2.05, 4, 2);
      pen.fill();
      pen.stroke();
    }
    pen.fillStyle = look.hub;
    pen.beginPath();
    pen.roundRect(middle - hub, 4, hub * 2, height + 6, 3);
    pen.fill();
    pen.stroke();
    film.arms.forEach(({ angle }, number) => {
      // An arm on the other side is seen there.
      const side = Math.cos(TURN * angle) < 0 ? -1 : 1;
      const arm = model.arm(number, t);
      const tip = middle + side * radius(arm.cylinder);
      const post = middle + side * (outer * 1.025 + 10);
      pen.fillStyle = look.arm;
      pen.fillRect(post - 5, 4, 10, height + 6);
      for (let head = 0; head < film.surfaces; head += 1) {
        const y = 7 + gap * (Math.floor(head / 2) + 0.5) + (head % 2 ? 5.5 : -5.5);
        const is = arm.head === head;
        const colour = is ? (arm.leg ? look.parts[arm.leg.part] : look.quiet) : look.armEdge;
        pen.strokeStyle = pen.fillStyle = colour;
        pen.lineWidth = is ? 3 : 1;
        pen.beginPath();
        pen.moveTo(tip, y);
        pen.lineTo(post, y);
        pen.stroke();
        pen.beginPath();
        pen.arc(tip, y, is ? 4 : 1.8, 0, TURN);
        pen.fill();
        if (is) {
          const room = side > 0 ? width - post - 8 : post - 8;
          const text = pen.measureText(`head ${head}`).width < room ? `head ${head}` : String(head);
          pen.fillStyle = look.text;
          pen.textBaseline = "middle";
          pen.fillText(text, side > 0 ? post + 8 : post - 8 - pen.measureText(text).width, Math.min(Math.max(y, 9), height + 5));
        }
      }
    });
  }

  // Where a time stands in a picture of so many ns over so many pixels.
  const scale = (from, span, left, width) => (t) => left + ((t - from) / span) * width;

  function hatched(pen, x, y, width, height, look) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.strokeStyle = look.ground;
    pen.lineWidth = 1.5;
    for (let at = Math.floor(x / 6) * 6 - height; at < x + width; at += 6) {
      pen.beginPath();
      pen.moveTo(at, y + height);
      pen.lineTo(at + height, y);
      pen.stroke();
    }
    pen.restore();
  }

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

  function ticks(pen, x, from, span, y, width, look) {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].map((ms) => ms * 1e6);
    const step = steps.find((each) => (x(each) - x(0)) > 62) ?? steps[steps.length - 1];
    pen.fillStyle = look.quiet;
    pen.textBaseline = "alphabetic";
    let free = 0;
    for (let at = Math.ceil(from / step) * step; at <= from + span; at += step) {
      const label = `${(at / 1e6).toLocaleString("en-US")} ms`;
      const wide = pen.measureText(label).width;
      const left = Math.min(Math.max(x(at) - wide / 2, 2), width - wide - 2);
      if (left < free) continue;
      pen.fillText(label, left, y);
      free = left + wide + 8;
    }
  }

  function cursor(pen, x, top, bottom, look) {
    pen.strokeStyle = look.text;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.fillStyle = look.text;
    pen.beginPath();
    pen.moveTo(x - 5, top - 1);
    pen.lineTo(x + 5, top - 1);
    pen.lineTo(x, top + 6);
    pen.closePath();
    pen.fill();
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

  // When a work of the medium went on that no request waited for.
  function behind(film, work) {
    if (work.gaps) return work.gaps;
    let gaps = [[work.start, work.end]];
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

  return { platter, stack, overview, rows, mark, LABEL };
})();
