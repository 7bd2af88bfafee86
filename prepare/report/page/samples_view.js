/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One group: a row for each candidate that was sampled, in the ladder's order. A row has a lane for
 * each stage; a lane shows every sample, the median, and the bar from the 6th to the 16th sample.
 * The pick has a star and a band.
 */
const ROW_PX = 62;
const AXIS_PX = 46;
const ROWS_MAX = 24; /* of the drawing, which would become too long; the table has all */
const POINT_HINT = "Point at a mark to read it.";
const LANES = [0.5, 0.8]; /* from a row's top, by stage */
const STATE_TEXTS = {
  picked: "★ picked", survived: "sampled again", competed: "lost in stage 1", struck: "struck out",
};

function stateText(candidate) {
  return STATE_TEXTS[candidate.state] || candidate.state;
}

function pickOf(group) {
  return group.candidates.find((candidate) => candidate.rung === group.pick);
}

/* The stage whose numbers decided, or null. */
function decided(candidate) {
  return candidate.stages[1] || candidate.stages[0];
}

function timesOf(stage) {
  const ends = [stage.low_ns, stage.median_ns, stage.high_ns];

  if (stage.min_ns !== null) {
    ends.push(stage.min_ns, stage.max_ns);
  }
  return ends;
}

function drawnRows(group) {
  const rows = group.candidates.filter((candidate) => decided(candidate));
  const pick = pickOf(group);

  if (rows.length <= ROWS_MAX) {
    return rows;
  }
  const best = rows.slice().sort((a, b) => decided(a).median_ns - decided(b).median_ns);
  const kept = new Set([pick, ...best].slice(0, ROWS_MAX));
  return rows.filter((candidate) => kept.has(candidate));
}

/* Every sample as {us, y, stage, pass, rank, candidate}, by rising time. */
function samplePoints(rows) {
  const points = [];

  rows.forEach((candidate, row) => candidate.stages.forEach((stage, s) => {
    (stage?.ns || []).forEach((ns, pass) => {
      if (ns !== null) {
        /* Passes lie a little above and below each other, in an order that means nothing. */
        const spread = (((pass * 8) % 21) / 20 - 0.5) * 0.16;
        points.push({
          us: ns / 1000, ns, y: rows.length - row - LANES[s] + spread, stage: s, pass,
          rank: stage.slowest_rank[pass], candidate,
        });
      }
    });
  }));
  return points.sort((a, b) => a.us - b.us);
}

function timeRange(rows) {
  const all = rows.flatMap((candidate) => candidate.stages.filter(Boolean).flatMap(timesOf));
  const low = Math.min(...all) / 1000;
  const high = Math.max(...all) / 1000;
  const log = low > 0 && high / low > 6;
  const room = (high - low || high || 1) * 0.04;

  return log ? {log, min: low / 1.06, max: high * 1.06}
    : {log, min: Math.max(0, low - room), max: high + room};
}

function drawLane(u, candidate, row, count, stageIndex, ratio) {
  const stage = candidate.stages[stageIndex];
  const {ctx} = u;

  if (!stage) {
    return;
  }
  const at = (ns) => u.valToPos(ns / 1000, "x", true);
  const y = u.valToPos(count - row - LANES[stageIndex], "y", true);
  const ink = colour(candidate.state === "picked" ? "accent" : "quiet");
  ctx.strokeStyle = ink;
  ctx.lineWidth = ratio;
  if (stage.min_ns !== null) {
    ctx.beginPath();
    ctx.moveTo(at(stage.min_ns), y);
    ctx.lineTo(at(stage.max_ns), y);
    ctx.stroke();
  }
  ctx.globalAlpha = 0.22;
  ctx.fillStyle = ink;
  ctx.fillRect(at(stage.low_ns), y - 7 * ratio, Math.max(2 * ratio, at(stage.high_ns) - at(stage.low_ns)), 14 * ratio);
  ctx.globalAlpha = 1;
  ctx.lineWidth = 2.5 * ratio;
  ctx.beginPath();
  ctx.moveTo(at(stage.median_ns), y - 9 * ratio);
  ctx.lineTo(at(stage.median_ns), y + 9 * ratio);
  ctx.stroke();
}

function drawRows(u, rows) {
  const {ctx, bbox} = u;
  const ratio = uPlot.pxRatio;

  ctx.save();
  rows.forEach((candidate, row) => {
    const top = u.valToPos(rows.length - row, "y", true);
    const bottom = u.valToPos(rows.length - row - 1, "y", true);
    if (candidate.state === "picked") {
      ctx.fillStyle = colour("band");
      ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
    }
    ctx.fillStyle = colour("line");
    ctx.fillRect(bbox.left, top, bbox.width, ratio);
    LANES.forEach((_, stage) => drawLane(u, candidate, row, rows.length, stage, ratio));
  });
  ctx.restore();
}

function fitText(ctx, text, room) {
  let shown = text;

  while (shown.length > 4 && ctx.measureText(shown).width > room) {
    shown = `${shown.slice(0, -2).trimEnd()}…`;
  }
  return shown;
}

function drawNames(u, rows) {
  const {ctx, bbox} = u;
  const ratio = uPlot.pxRatio;

  ctx.save();
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  rows.forEach((candidate, row) => {
    const y = u.valToPos(rows.length - row, "y", true) + 5 * ratio;
    const picked = candidate.state === "picked";
    ctx.font = `${picked ? "bold " : ""}${12.5 * ratio}px system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif`;
    const name = fitText(ctx, `${candidate.name} · ${stateText(candidate)}`, bbox.width - 12 * ratio);
    ctx.fillStyle = colour(picked ? "band" : "card"); /* no grid behind letters */
    ctx.fillRect(bbox.left + 2 * ratio, y - 2 * ratio, ctx.measureText(name).width + 8 * ratio, 16 * ratio);
    ctx.fillStyle = colour(picked ? "ink" : "quiet");
    ctx.fillText(name, bbox.left + 6 * ratio, y);
  });
  ctx.restore();
}

function pointText(point) {
  return `${point.candidate.name}, stage ${point.stage + 1}, pass ${point.pass}:`
    + ` ${microseconds(point.ns)} µs, slowest rank ${point.rank}`;
}

function nearest(u, points) {
  const {left, top} = u.cursor;
  let best = null;
  let least = 24 * 24;

  if (left < 0) {
    return null;
  }
  for (const point of points) {
    const dx = u.valToPos(point.us, "x") - left;
    const dy = u.valToPos(point.y, "y") - top;
    if (dx * dx + dy * dy < least) {
      least = dx * dx + dy * dy;
      best = point;
    }
  }
  return best;
}

function pointSeries(points, rows, state, stage) {
  const ink = colour(state === "picked" ? "accent" : "quiet");

  return {
    scale: "y", paths: () => null,
    points: {
      show: points.some((point) => point.stage === stage && (point.candidate.state === "picked") === (state === "picked")),
      size: 6, width: 1.25, stroke: ink, fill: stage ? ink : colour("card"), space: 0,
    },
  };
}

function buildSamples(box, rows, readout, width) {
  const points = samplePoints(rows);
  const range = timeRange(rows);
  const wanted = Math.max(3, Math.floor(width / 60));
  const kinds = [["other", 0], ["other", 1], ["picked", 0], ["picked", 1]];
  const ofKind = ([state, stage]) => points.map((point) => (point.stage === stage
    && (point.candidate.state === "picked") === (state === "picked") ? point.y : null));
  const ticks = (low, high) => {
    const decades = range.log ? decadeTicks(low, high) : [];
    return thin(decades.length >= 3 ? decades : evenTicks(low, high, wanted), wanted);
  };

  return new uPlot({
    width, height: rows.length * ROW_PX + AXIS_PX, padding: [0, 12, 0, 0],
    legend: {show: false},
    cursor: {drag: {x: false, y: false}, points: {show: false}, y: false},
    scales: {
      x: {time: false, distr: range.log ? 3 : 1, log: 10, range: () => [range.min, range.max]},
      y: {range: () => [0, rows.length]},
    },
    axes: [axis({
      label: `µs${range.log ? ", logarithmic" : ""}`, size: AXIS_PX - 18, splits: (u, i, low, high) => ticks(low, high),
      values: (u, values) => values.map(axisText), filter: (u, values) => values,
    }), {show: false}],
    series: [{}, ...kinds.map(([state, stage]) => pointSeries(points, rows, state, stage))],
    hooks: {
      drawClear: [(u) => drawRows(u, rows)],
      draw: [(u) => drawNames(u, rows)],
      setCursor: [(u) => {
        const point = nearest(u, points);
        readout.textContent = point ? pointText(point) : POINT_HINT;
      }],
    },
  }, [points.map((point) => point.us), ...kinds.map(ofKind)], box);
}

function samplesLabel(group, rows) {
  const pick = pickOf(group);
  const stage = decided(pick);
  const others = rows.filter((candidate) => candidate !== pick).map((candidate) =>
    `${candidate.name} ${microseconds(decided(candidate).median_ns)}`);

  return `Samples of ${group.name} at capacity ${group.capacity}, by candidate. Picked: ${pick.name}`
    + (stage ? `, median ${microseconds(stage.median_ns)} µs. ` : ", never sampled. ")
    + (others.length ? `Medians of the others in µs: ${others.join("; ")}. ` : "")
    + "The table below has all numbers.";
}

function samplesFigure(group, data) {
  const rows = drawnRows(group);
  const left = group.candidates.filter((candidate) => decided(candidate)).length - rows.length;
  const box = make("div", {class: "chart", role: "img", "aria-label": samplesLabel(group, rows)});
  const readout = make("p", {class: "readout quiet"}, POINT_HINT);

  if (!rows.length) {
    return make("p", {class: "notice"}, "No candidate of this group was sampled: with one that is"
      + " legal there is nothing to choose from.");
  }
  keepDrawn(box, (width) => buildSamples(box, rows, readout, width));
  return make("figure", null, box, readout, make("figcaption", null,
    "Upper lane: stage 1 (hollow), lower lane: stage 2 (filled), where sampled again. ",
    data.shown.samples === "all" ? "Each mark is one sample; up and down within a lane means nothing. "
      : "Only bounds are shown: the thin line goes from the least to the greatest sample. ",
    "Upright bar: median; shaded: from the 6th to the 16th of 21. ★ and the band mark the pick.",
    left ? ` Of the table's candidates the slowest, ${left}, are not drawn.` : ""));
}

function stageColumns(index) {
  const title = `Stage ${index + 1}`;

  return [
    {title: `${title} median µs`, number: true, cell: ({stages}) => time(stages[index] ? stages[index].median_ns : null)},
    {title: `${title} interval µs`, number: true, cell: ({stages}) => (stages[index] ? interval(stages[index].low_ns, stages[index].high_ns) : "–")},
  ];
}

function boundsColumn(index) {
  return {
    title: `Stage ${index + 1} least to greatest µs`, number: true,
    cell: ({stages}) => (stages[index] ? interval(stages[index].min_ns, stages[index].max_ns) : "–"),
  };
}

function candidatesTable(group) {
  return makeTable([
    {title: "Candidate", kind: "nowrap", cell: ({name}) => name},
    {title: "Outcome", kind: "nowrap", cell: stateText},
    ...stageColumns(0), ...stageColumns(1),
    {title: "Reason", kind: "prose", cell: ({reason}) => reason},
    boundsColumn(0), boundsColumn(1),
    {title: "Rung", number: true, cell: ({rung}) => number(rung)},
  ], group.candidates, {
    caption: `Candidates of ${group.name} at capacity ${group.capacity}, in the ladder's order.`
      + (group.omitted ? ` ${counted(group.omitted, "candidate that was", "candidates that were")} not sampled again left out.` : ""),
    rowClass: (candidate) => (candidate.rung === group.pick ? "picked" : null),
  }).node;
}

/* A row a pass, a column a candidate and stage. */
function samplesTable(group) {
  const lanes = group.candidates.flatMap((candidate) => candidate.stages.flatMap((stage, s) =>
    (stage && stage.ns ? [{candidate, stage, s}] : [])));

  if (!lanes.length) {
    return null;
  }
  return makeTable([
    {title: "Pass", cell: (pass) => String(pass)},
    ...lanes.map(({candidate, stage, s}) => ({
      title: `${candidate.name} stage ${s + 1}`, number: true, cell: (pass) => time(stage.ns[pass]),
    })),
  ], Array.from({length: 21}, (_, pass) => pass), {
    caption: "Every sample in µs, by pass.", tall: true, pinned: true,
  }).node;
}

function showGroup(group, data) {
  const details = make("details", {id: "every-sample"}, make("summary", null, "Every sample as a table"));
  const pick = pickOf(group);

  /* Filled when opened: 42 columns for a group are many elements. */
  details.addEventListener("toggle", () => {
    if (details.children.length === 1) {
      append(details, [samplesTable(group) || make("p", null, "This page holds no single samples.")]);
    }
  });
  byId("samples-title").textContent = `Samples of ${group.name} at capacity ${group.capacity}`;
  byId("samples-view").replaceChildren(
    make("p", null, `${words(group.op)} of ${group.dtype}, `, number(group.bytes, byteText(group.bytes)),
      ` a rank, ${group.times === 1 ? "once" : `${group.times} times`} a step. Picked `, make("strong", null, pick.name), `: ${pick.reason.replace(/^picked: /, "")}.`),
    samplesFigure(group, data), candidatesTable(group), details);
}
