"use strict";
/* What the animations of all kinds of devices are drawn with. */
const FilmPen = (() => {
  const TURN = 2 * Math.PI;
  const FONT = '12px system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif';

  // Times between two labels of an axis, ns, and what is so short, in ns, that its labels are in µs.
  const STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((ns) => [ns, 2 * ns, 5 * ns]);
  const SHORT = 2e6;

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

  function ticks(pen, x, from, span, y, width, look) {
    const step = STEPS.find((each) => (x(each) - x(0)) > 62) ?? STEPS[STEPS.length - 1];
    const [unit, ns] = span < SHORT ? ["µs", 1e3] : ["ms", 1e6];
    pen.fillStyle = look.quiet;
    pen.textBaseline = "alphabetic";
    let free = 0;
    for (let at = Math.ceil(from / step) * step; at <= from + span; at += step) {
      const label = `${(at / ns).toLocaleString("en-US")} ${unit}`;
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

  return { prepared, mark, scale, hatched, ticks, cursor };
})();

/* What the player needs of each kind of animation, by its name: a function that makes it of a film. */
const filmKinds = {};
