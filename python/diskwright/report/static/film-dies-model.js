"use strict";
/* What channels and dies do at an instant: t is ns since the start of the film. Nothing here is drawn. */
function diesModel(film) {
  // The legs of operations, and those of them that channels are busy with.
  const carried = Array.from({ length: film.channels }, () => []);
  const ofWorker = Array.from({ length: film.channels * film.workers }, () => []);
  for (const operation of film.operations) {
    let at = operation.start;
    operation.legs = operation.steps.map(([kind, time]) => ({ operation, kind, ...film.legs[kind], start: at, end: (at += time) }));
    operation.end = at;
    operation.lane = operation.channel * film.workers + operation.worker;
    ofWorker[operation.lane].push(operation);
    carried[operation.channel].push(...operation.legs.filter(({ onChannel }) => onChannel));
  }
  for (const legs of carried) legs.sort((one, other) => one.start - other.start);
  const edges = new Set([0, film.length]);
  for (const { legs } of film.operations) for (const { start, end } of legs) edges.add(start).add(end);
  const events = [...edges].filter((at) => at >= 0 && at <= film.length).sort((one, other) => one - other);

  // Of things in the order of their starts that do not overlap, the one at an instant.
  function within(list, t) {
    let low = 0;
    for (let high = list.length; low < high;) {
      const middle = (low + high) >> 1;
      if (list[middle].start <= t) low = middle + 1;
      else high = middle;
    }
    const found = list[low - 1];
    return found && t < found.end ? found : null;
  }
  const legOf = (lane, t) => within(within(ofWorker[lane], t)?.legs ?? [], t);
  const carries = (channel, t) => within(carried[channel], t);

  // How many workers are at each part, from event to event.
  const changes = new Map(events.map((at) => [at, new Map()]));
  for (const { legs } of film.operations) {
    for (const { part, start, end } of legs) {
      if (end <= 0 || start >= film.length) continue;
      for (const [at, by] of [[Math.max(start, 0), 1], [Math.min(end, film.length), -1]]) {
        const here = changes.get(at);
        here.set(part, (here.get(part) ?? 0) + by);
      }
    }
  }
  const now = new Map(film.parts.map((part) => [part, 0]));
  const profile = events.slice(0, -1).map((start, index) => {
    for (const [part, by] of changes.get(start)) now.set(part, now.get(part) + by);
    return { start, end: events[index + 1], counts: [...now] };
  });

  return {
    film, events, profile, ofWorker, carried, legOf, carries,
    next: (t) => events.find((at) => at > t + 1e-6) ?? film.length,
    previous: (t) => events.findLast((at) => at < t - 1e-6) ?? 0,
    isOwn: ({ cause }) => cause !== "reads" && cause !== "writes",
  };
}

/* The same in words. */
function diesWords(model) {
  const { film } = model;
  // The most steps that are told at a time, those that began last.
  const TOLD = 3;
  const us = (ns) => (ns / 1e3).toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const lanes = [...model.ofWorker.keys()];
  const counted = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

  // What an operation is, and what for.
  function subject({ action, request, block, page, planes }) {
    const place = page === null ? `block ${block}` : `page ${page} of block ${block}`;
    const together = planes > 1 ? `, with ${counted(planes - 1, "page")} of other planes` : "";
    const of = request === null ? "" : ` for request ${request}`;
    const texts = {
      read: `reads ${place}${of}`,
      merge: `reads ${place} to fill up what a write gives in part`,
      "map read": `reads ${place} for its part of the map`,
      program: `programs ${place}${of}`,
      parity: `programs ${place} with the parity of its stripe`,
      map: "programs a page of the map",
      move: `cleans block ${block}: moves units from page ${page}`,
      "move read": `cleans the superblock of block ${block}: reads units to be moved from page ${page}`,
      "move write": `moves units of a superblock that is cleaned to ${place}`,
      "move parity": `programs ${place} with the parity of a stripe of moved units`,
      erase: `cleans ${place}: erases it`,
    };
    return texts[action] + together;
  }
  const called = ({ channel, worker }) => `Channel ${channel}, ${film.worker} ${worker}`;
  const step = ({ name, start, end }, t) =>
    `${name === "wait" ? "waits for the channel" : name}, ${us(t - start)} of ${us(end - start)} µs`;

  function now(t) {
    const legs = lanes.map((lane) => model.legOf(lane, t)).filter(Boolean).sort((one, other) => other.start - one.start);
    const lines = legs.slice(0, TOLD).map((leg) => ({
      text: `${called(leg.operation)} ${subject(leg.operation)}: ${step(leg, t)}`,
      data: { channel: leg.operation.channel, worker: leg.operation.worker, leg: leg.name, start: leg.start, end: leg.end },
    }));
    if (legs.length > TOLD) lines.push({ text: `and ${legs.length - TOLD} more at work, since earlier`, data: {} });
    return lines.length ? lines : [{ text: "Nothing is under way.", data: {} }];
  }

  function state(t) {
    const legs = lanes.map((lane) => model.legOf(lane, t)).filter(Boolean);
    const own = legs.filter(({ operation }) => model.isOwn(operation)).length;
    const carried = model.carried.filter((_, channel) => model.carries(channel, t)).length;
    return `${legs.length} of ${counted(lanes.length, film.worker)} at work, ${own} of them for the drive itself; `
      + `channels in use: ${carried} of ${film.channels}`;
  }
  return { now, state, since: (t) => `${us(t)} of ${us(film.length)} µs` };
}
