"use strict";
/* The film of a hard disk: its platter, its arms, its requests. */
filmKinds.arms = (film) => {
  const model = filmModel(film);
  const words = filmWords(model);
  const themes = {
    dark: { metal: ["#333a43", "#454e59", "#2d333b", "#414a54", "#333a43"], zone: "rgba(255,255,255,0.045)", zoneOther: "rgba(0,0,0,0.10)",
            ring: "rgba(255,255,255,0.10)", tick: "#8b96a3", index: "#c3ccd6", hub: "#1d2127", screw: "#4b5560", edge: "#5b6672",
            arm: "rgba(150,162,175,0.88)", armEdge: "#77828e", waits: "#7b8794" },
    light: { metal: ["#e6eaee", "#f7f9fa", "#dbe1e7", "#f1f4f6", "#e6eaee"], zone: "rgba(30,50,80,0.050)", zoneOther: "rgba(255,255,255,0.25)",
             ring: "rgba(30,50,80,0.13)", tick: "#7c8793", index: "#3c4650", hub: "#cbd3db", screw: "#97a2ad", edge: "#97a2ad",
             arm: "rgba(120,132,145,0.85)", armEdge: "#5f6b77", waits: "#9aa5b0" },
  };
  // What the step is that a line tells of, and whose.
  const data = ({ request, leg }) =>
    (leg ? { of: request ? request.sequence : "", part: film.parts[leg.part], start: leg.start, end: leg.end } : {});
  return {
    jumps: words.jumps(),
    span: 60e6, speeds: [1, 5, 10, 50, 200, 1000], speed: 50, lanes: film.arms.length, lines: film.arms.length, label: FilmTime.LABEL,
    next: model.next, previous: model.previous, since: words.since, state: words.state,
    now: (t) => words.now(t).map((line) => ({ text: line.text, data: data(line) })),
    look: (isDark) => themes[isDark ? "dark" : "light"],
    draw(find, t, look, view) {
      FilmDisk.platter(find("platter"), model, t, look);
      FilmDisk.stack(find("stack"), model, t, look);
      FilmTime.overview(find("overview"), model, t, look, view);
      FilmTime.rows(find("rows"), model, t, look, view);
    },
  };
};
