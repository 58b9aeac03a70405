"use strict";
/* Draws a disk at an instant: the platter from above, the stack from the side. */
const FilmDisk = (() => {
  const { prepared, mark } = FilmPen;
  const TURN = 2 * Math.PI;

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

  // The platter's radius and its middle: there is room for a pivot below on the right, or for others all around.
  function sizes(film, size) {
    if (film.arms.some(({ angle }) => angle !== 0)) {
      const pivot = pivotOf(1);
      const reaches = film.arms.map(({ angle }) => {
        const [cos, sin] = [Math.cos(toward(angle)), Math.sin(toward(angle))];
        return Math.max(Math.abs(pivot.x * cos - pivot.y * sin), Math.abs(pivot.x * sin + pivot.y * cos));
      });
      return { outer: size * Math.min(0.345, 0.448 / Math.max(...reaches)), middle: size / 2 };
    }
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
    arms.forEach((arm, number) => sectors(pen, model, arm, number, radius, turn, t, look));
    dots(pen, model, t, radius, turn, look);
    arms.forEach((arm, number) => {
      pen.save();
      pen.rotate(toward(film.arms[number].angle));
      actuator(pen, arm, radius, outer, size, look);
      pen.restore();
    });
    if (arms.length > 1) arms.forEach((arm, number) => badge(pen, film, arm, number, radius, outer, look));
    pen.restore();
  }

  // The number of an arm, upright on its beam: nearer to the head where others have the same pivot.
  function badge(pen, film, arm, number, radius, outer, look) {
    const own = film.arms[number].angle;
    const before = film.arms.slice(0, number).filter(({ angle }) => angle === own).length;
    const share = 0.1 + 0.62 * ((before * 0.3) % 1);
    const pivot = pivotOf(outer);
    const [x, y] = [pivot.x + (radius(arm.cylinder) - pivot.x) * share, pivot.y * (1 - share)];
    const [cos, sin] = [Math.cos(toward(own)), Math.sin(toward(own))];
    const text = String(number);
    const [across, down] = [x * cos - y * sin, x * sin + y * cos];
    pen.beginPath();
    pen.arc(across, down, 9, 0, TURN);
    pen.fillStyle = look.ground;
    pen.fill();
    pen.strokeStyle = look.armEdge;
    pen.lineWidth = 1;
    pen.stroke();
    pen.fillStyle = look.text;
    pen.textBaseline = "middle";
    pen.fillText(text, across - pen.measureText(text).width / 2, down + 0.5);
  }

  // Where an arm stands on the canvas: the platter turns towards smaller angles there, and arms are told on its way.
  const toward = (angle) => -TURN * angle;

  const pivotOf = (outer) => ({ x: outer * 0.74, y: outer * 1.2 });

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
  function sectors(pen, model, arm, number, radius, turn, t, look) {
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
    const head = model.passed(number, t);
    const passed = head - from - Math.floor(head - from);
    const left = Math.max(size - passed, 0);
    if (left > 0) arc(from + passed, Math.max(left, least / 2), 3, look.ground);
  }

  function dots(pen, model, t, radius, turn, look) {
    const put = ({ op }, [cylinder, , angle], size) => {
      const at = radius(cylinder);
      mark(pen, op, Math.cos(turn(angle)) * at, Math.sin(turn(angle)) * at, size);
    };
    pen.lineWidth = 1.2;
    for (const request of model.waiting(t)) {
      if (!request.place) continue;
      put(request, request.place, 4);
      pen.fillStyle = look.ops[request.op];
      pen.fill();
      pen.strokeStyle = look.ground;
      pen.stroke();
    }
    for (const { request } of model.active(t)) {
      const place = model.place(request, t);
      if (!place) continue;
      put(request, place, 6);
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
    const pivot = pivotOf(outer);
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
    // An arm on the other side is seen there.
    const sideOf = ({ angle }) => (Math.cos(TURN * angle) < -1e-9 ? -1 : 1);
    film.arms.forEach((own, number) => {
      const side = sideOf(own);
      const meets = (other) =>
        other !== own && sideOf(other) === side && other.surfaces[0] <= own.surfaces[1] && own.surfaces[0] <= other.surfaces[1];
      const arm = model.arm(number, t);
      const tip = middle + side * radius(arm.cylinder);
      const room = width / 2 - outer * 1.025 - 16;
      const others = film.arms.filter(meets).length;
      const before = film.arms.slice(0, number).filter(meets).length;
      const post = middle + side * (outer * 1.025 + 10 + before * Math.min(14, room / (others + 1)));
      pen.fillStyle = look.arm;
      pen.fillRect(post - 5, 4, 10, height + 6);
      for (let head = own.surfaces[0]; head <= own.surfaces[1]; head += 1) {
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
        // Where there is another one the text below has the numbers.
        if (is && !others) {
          const room = side > 0 ? width - post - 8 : post - 8;
          const text = pen.measureText(`head ${head}`).width < room ? `head ${head}` : String(head);
          pen.fillStyle = look.text;
          pen.textBaseline = "middle";
          pen.fillText(text, side > 0 ? post + 8 : post - 8 - pen.measureText(text).width, Math.min(Math.max(y, 9), height + 5));
        }
      }
    });
  }

  return { platter, stack };
})();
