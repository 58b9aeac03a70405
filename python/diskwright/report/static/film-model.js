"use strict";
/* What a disk does at an instant: t is ns since the start of the film. Nothing here is drawn. */
function filmModel(film) {
  const parts = film.parts;
  const MEDIUM = new Set(["seek", "head_switch", "settle", "rotation", "transfer"].map((name) => parts.indexOf(name)));
  const [SEEK, TRANSFER] = ["seek", "transfer"].map((name) => parts.indexOf(name));
  const works = film.work;

  // Where each work's steps begin and end, and where the arm comes from.
  const places = film.arms.map(({ cylinder, head }) => ({ cylinder, head }));
  for (const work of works) {
    let at = work.start;
    let place = places[work.arm];
    work.legs = work.steps.map(([part, time, cylinder, head, slot, slots, perTrack]) => {
      const leg = { part, start: at, end: at + time, from: place, to: { cylinder, head } };
      if (perTrack) leg.target = { cylinder, head, from: slot / perTrack, size: slots / perTrack };
      place = leg.to;
      at += time;
      return leg;
    });
    work.end = at;
    places[work.arm] = place;
  }
  for (const request of film.requests) {
    let at = request.start;
    request.legs = request.steps.map(([part, time]) => ({ part, start: at, end: (at += time) }));
  }
  const ofArm = film.arms.map((_, number) => works.filter((work) => work.arm === number));
  const edges = new Set([0, film.length]);
  for (const { legs } of [...works, ...film.requests]) {
    for (const { start, end } of legs) edges.add(start).add(end);
  }
  const events = [...edges].filter((at) => at >= 0 && at <= film.length).sort((one, other) => one - other);

  // Full speed half of the way, and to a stop again: of a real seek the model knows the time, not the course.
  const eased = (share) => (share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share));
  const within = (legs, t) => legs.find(({ start, end }) => start <= t && t < end);

  // Turns of the platter that have passed under an arm at angle 0, and under an arm: it stands as far on the way that the platter turns.
  const turned = (t) => film.phase + t / film.turn;
  const passed = (number, t) => turned(t) - film.arms[number].angle;

  function arm(number, t) {
    const mine = ofArm[number];
    let low = 0;
    for (let high = mine.length; low < high;) {
      const middle = (low + high) >> 1;
      if (mine[middle].start <= t) low = middle + 1;
      else high = middle;
    }
    const work = mine[low - 1];
    if (!work) return { ...film.arms[number] };
    const last = work.legs[work.legs.length - 1];
    if (t >= work.end) return { ...last.to };
    const leg = within(work.legs, t);
    const share = leg.end > leg.start ? (t - leg.start) / (leg.end - leg.start) : 1;
    const moved = leg.part === SEEK ? eased(share) : 1;
    const ahead = work.legs.slice(work.legs.indexOf(leg)).find(({ target }) => target);
    return {
      cylinder: leg.from.cylinder + (leg.to.cylinder - leg.from.cylinder) * moved,
      head: share < 0.5 ? leg.from.head : leg.to.head,
      work, leg, share, target: ahead?.target, passes: leg.part === TRANSFER,
    };
  }

  // Requests in service, those first for which the medium works.
  function active(t) {
    const found = film.requests
      .filter(({ start, completion }) => start !== null && start <= t && t < completion)
      .map((request) => ({ request, leg: within(request.legs, t) }));
    const rank = ({ leg }) => (leg && MEDIUM.has(leg.part) ? 0 : 1);
    return found.sort((one, other) => rank(one) - rank(other));
  }

  // The arms that work for a request, and whether what they do is the step that it is at.
  const workers = (request, t) => film.arms
    .map((_, number) => ({ number, ...arm(number, t) }))
    .filter(({ work }) => work && work.request !== null && film.requests[work.request] === request);
  const isOf = (leg, other) => Boolean(leg) && leg.part === other.part && leg.start === other.start && leg.end === other.end;

  // Where a request is marked: in a log that is written, where it goes.
  function place(request, t) {
    if (request.place) return request.place;
    const target = workers(request, t).find(({ target }) => target)?.target;
    return target ? [target.cylinder, target.head, target.from] : null;
  }

  const isBefore = (request, t) => request.start === null || t < request.start;
  const waiting = (t) =>
    film.requests.filter((request) => request.acceptance !== null && request.acceptance <= t && isBefore(request, t));
  const outside = (t) =>
    film.requests.filter((request) =>
      request.arrival <= t && (request.acceptance === null || t < request.acceptance) && isBefore(request, t));

  // How many of the slowest requests have a button.
  const SLOWEST = 3;

  // The moment at which the most requests have arrived and are not complete: the first of its kind.
  function busiest() {
    const changes = film.requests.flatMap(({ arrival, completion }) =>
      [[Math.max(arrival, 0), 1], ...(completion === null ? [] : [[completion, -1]])]);
    changes.sort(([one, up], [other, down]) => one - other || up - down);
    let [count, most, at] = [0, 0, 0];
    for (const [instant, change] of changes) {
      count += change;
      if (count > most && instant < film.length) [most, at] = [count, instant];
    }
    return { most, at };
  }

  const slowest = () => film.requests
    .filter(({ start, completion }) => start !== null && completion !== null && start < film.length)
    .sort((one, other) => (other.completion - other.arrival) - (one.completion - one.arrival) || one.start - other.start)
    .slice(0, SLOWEST);

  return {
    busiest, slowest,
    film, events, turned, passed, arm, active, workers, isOf, place, waiting, outside, isMedium: (part) => MEDIUM.has(part),
    next: (t) => events.find((at) => at > t + 1e-6) ?? film.length,
    previous: (t) => events.findLast((at) => at < t - 1e-6) ?? 0,
  };
}

/* The same in words. */
function filmWords(model) {
  const { film } = model;
  const name = (part) => film.parts[part].replace("_", " ");
  const whole = (number) => number.toLocaleString("en-US");
  const ms = (ns, digits = 3) => (ns / 1e6).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const blocks = (count) => `${whole(count)} block${count === 1 ? "" : "s"}`;
  const called = ({ sequence }) => (sequence === null ? "A request of no number" : `Request ${sequence}`);
  const subject = (request) =>
    `${called(request)}, ${["read", "write"][request.op]} of ${blocks(request.blocks)} at LBN ${whole(request.lbn)}`;
  const step = ({ part, start, end }, t) => `${name(part)}, ${ms(t - start)} of ${ms(end - start)} ms`;

  const lower = (text) => text.replace(/^./, (first) => first.toLowerCase());
  const several = film.arms.length > 1;

  // What an arm does that no request waits for.
  function background(work, active) {
    if (work.purpose === "travel") return `The scheduler moves ${several ? `arm ${work.arm}` : "the arm"}`;
    if (work.purpose === "cleaning") {
      return `The cleaner ${work.op === 1 ? "moves a block" : "reads a track that it empties"}${several ? `, arm ${work.arm}` : ""}`;
    }
    if (several) return `Arm ${work.arm}, for ${work.request === null ? "another request" : lower(called(film.requests[work.request]))}`;
    if (work.op === 1 && active.some(({ request }) => request === film.requests[work.request])) return "Meanwhile on the medium";
    const of = work.request === null ? "an earlier request" : lower(called(film.requests[work.request]));
    return work.op === 1 ? `Behind it, ${of} goes from the buffer to the medium` : `Behind it, reading ahead of ${of}`;
  }

  // A line for each service under way, and one for what each arm does beside them: texts, and what they are of.
  function now(t) {
    const active = model.active(t);
    const services = new Map();
    for (const one of active) services.set(one.request.service, [...(services.get(one.request.service) ?? []), one]);
    const lines = [...services.values()].map(([{ request, leg }, ...merged]) => {
      const more = merged.length ? ` (and ${merged.length} merged with it)` : "";
      const worker = several && leg && model.workers(request, t).find((arm) => model.isOf(arm.leg, leg));
      const by = worker ? `, arm ${worker.number}` : "";
      return { text: `${subject(request)}${more}${by}: ${leg ? step(leg, t) : "done"}`, request, leg };
    });
    const isTold = ({ work, leg }) => several
      ? active.some((one) => one.request === film.requests[work.request] && model.isOf(one.leg, leg))
      : active.some(({ leg }) => leg && model.isMedium(leg.part));
    film.arms.forEach((_, number) => {
      const arm = model.arm(number, t);
      if (arm.leg && !isTold(arm)) lines.push({ text: `${background(arm.work, active)}: ${step(arm.leg, t)}`, leg: arm.leg });
    });
    return lines.length ? lines : [{ text: "Nothing is under way." }];
  }

  const queue = (t) => {
    const [waiting, outside] = [model.waiting(t).length, model.outside(t).length];
    const rest = outside ? `, ${whole(outside)} not in it yet` : "";
    return `${whole(waiting)} waiting in the drive's queue${rest}`;
  };
  const place = (t) => {
    return film.arms.map((_, number) => {
      const { cylinder, head } = model.arm(number, t);
      return `${several ? `arm ${number}: ` : ""}cylinder ${whole(Math.round(cylinder))} (of ${whole(film.cylinders)}), head ${head} (of ${film.surfaces})`;
    }).join("; ");
  };
  const state = (t) => `${place(t)}; ${queue(t)}`;
  // Moments to go to: the busiest one, and where the slowest requests start.
  function jumps() {
    const { most, at } = model.busiest();
    if (!most) return [];
    return [
      { text: `Busiest: ${whole(most)} outstanding`, at },
      ...model.slowest().map((request) =>
        ({ text: `Slow: ${request.sequence ?? "–"}, ${ms(request.completion - request.arrival, 1)} ms`, at: Math.max(request.start, 0) })),
    ];
  }

  return { now, state, jumps, since: (t) => `${ms(t)} of ${ms(film.length)} ms` };
}
