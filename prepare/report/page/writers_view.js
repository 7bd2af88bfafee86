/* SPDX-License-Identifier: Apache-2.0 */
/* For each op and type a log-log chart of the writers' costs, and the same as a table. */
const COST_HEIGHT_PX = 300;
const SIZE_HINT = "Point at the chart to read a size.";

function costPanels(writers) {
  const panels = new Map();

  for (const row of writers) {
    const key = `${row.op} ${row.dtype}`;
    if (!panels.has(key)) {
      panels.set(key, {op: row.op, dtype: row.dtype, rows: []});
    }
    panels.get(key).rows.push(row);
  }
  for (const panel of panels.values()) {
    panel.sizes = [...new Set(panel.rows.map(({bytes}) => bytes))].sort((a, b) => a - b);
    panel.writers = [...new Set(panel.rows.map(({writer}) => writer))];
    panel.cost = (writer, bytes) => panel.rows.find((row) => row.writer === writer && row.bytes === bytes);
    panel.best = (bytes) => Math.min(...panel.rows.filter((row) => row.bytes === bytes).map((row) => row.median_ns));
  }
  return [...panels.values()];
}

/* In µs; no time of less than a nanosecond has a place on a logarithmic axis. */
function onLogAxis(ns) {
  return Math.max(ns, 1) / 1000;
}

function logRange(values) {
  return [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
}

function drawMarks(u, seriesIndex, writer) {
  const {colour: name, shape} = writerStyle(writer);
  const ratio = uPlot.pxRatio;

  u.data[seriesIndex].forEach((value, i) => {
    if (value !== null && value !== undefined) {
      u.ctx.save();
      u.ctx.setLineDash([]);
      drawMark(u.ctx, shape, u.valToPos(u.data[0][i], "x", true), u.valToPos(value, "y", true),
        4 * ratio, colour(name), colour("card"));
      u.ctx.restore();
    }
  });
}

function sizeText(panel, index) {
  const bytes = panel.sizes[index];

  return `${byteText(bytes)}: ${panel.writers.flatMap((writer) => {
    const row = panel.cost(writer, bytes);
    return row ? [`${writer} ${microseconds(row.median_ns)}`] : [];
  }).join(", ")} µs`;
}

function buildCosts(box, panel, readout, width) {
  const times = panel.rows.map(({median_ns: ns}) => onLogAxis(ns));
  const [xLow, xHigh] = logRange(panel.sizes);
  const [yLow, yHigh] = logRange(times);
  const wanted = Math.max(3, Math.floor(width / 85));

  return new uPlot({
    width, height: COST_HEIGHT_PX, padding: [10, 16, 0, 0], legend: {show: false},
    cursor: {drag: {x: false, y: false}, points: {show: false}, y: false},
    scales: {
      x: {time: false, distr: 3, log: 2, range: () => [xLow, xHigh]},
      y: {distr: 3, log: 10, range: () => [yLow, yHigh]},
    },
    axes: [
      axis({
        label: "one rank's input", size: 28, splits: (u, i, low, high) => powerTicks(low, high, wanted),
        values: (u, values) => values.map(byteText), filter: (u, values) => values,
      }),
      axis({
        label: "µs", size: 46,
        splits: (u, i, low, high) => {
          const decades = decadeTicks(low, high);
          return thin(decades.length >= 3 ? decades : evenTicks(low, high, 5), 9);
        },
        values: (u, values) => values.map(axisText), filter: (u, values) => values,
      }),
    ],
    series: [{}, ...panel.writers.map((writer) => {
      const {colour: name, dash} = writerStyle(writer);
      return {stroke: colour(name), width: 2, dash, spanGaps: true, points: {show: false}};
    })],
    hooks: {
      drawSeries: [(u, i) => drawMarks(u, i, panel.writers[i - 1])],
      setCursor: [(u) => {
        readout.textContent = u.cursor.idx === null || u.cursor.idx === undefined || u.cursor.left < 0
          ? SIZE_HINT : sizeText(panel, u.cursor.idx);
      }],
    },
  }, [panel.sizes, ...panel.writers.map((writer) => panel.sizes.map((bytes) => {
    const row = panel.cost(writer, bytes);
    return row ? onLogAxis(row.median_ns) : null;
  }))], box);
}

function costsLabel(panel) {
  const wins = new Map();

  for (const bytes of panel.sizes) {
    const row = panel.rows.find((each) => each.bytes === bytes && each.median_ns === panel.best(bytes));
    wins.set(row.writer, [...(wins.get(row.writer) || []), byteText(bytes)]);
  }
  return `${words(panel.op)} of ${panel.dtype}: medians of ${panel.writers.join(", ")} from`
    + ` ${byteText(panel.sizes[0])} to ${byteText(panel.sizes.at(-1))}. `
    + [...wins].map(([writer, list]) => `Least at ${list.join(", ")}: ${writer}.`).join(" ")
    + " The table below has all numbers.";
}

function costsTable(panel) {
  const title = `${words(panel.op)}, ${panel.dtype}`;

  return make("details", {class: "costs"}, make("summary", null, "As a table", make("span", {class: "quiet"}, ` (${title})`)),
    makeTable([
      {title: "Bytes a rank", kind: "nowrap", cell: (bytes) => number(bytes, byteText(bytes))},
      ...panel.writers.map((writer) => ({
        title: `${writer} µs`, number: true,
        cell: (bytes) => {
          const row = panel.cost(writer, bytes);
          if (!row) {
            return "–";
          }
          return row.median_ns === panel.best(bytes)
            ? make("span", {class: "best", title: row.candidate}, time(row.median_ns), " ★")
            : make("span", {title: row.candidate}, time(row.median_ns));
        },
      })),
    ], panel.sizes, {caption: `Best stage-1 median of each writer for ${title}, in µs. ★: least of the row. –: not sampled.`, pinned: true}).node);
}

function costsPanel(panel, id) {
  const box = make("div", {class: "chart", role: "img", "aria-label": costsLabel(panel)});
  const readout = make("p", {class: "readout quiet"}, SIZE_HINT);
  const legend = make("ul", {class: "legend", "aria-label": "Writers"});
  const fill = () => legend.replaceChildren(...panel.writers.map((writer) =>
    make("li", null, legendMark(writer), writer)));

  fill();
  schemeListeners.push(fill);
  keepDrawn(box, (width) => buildCosts(box, panel, readout, width));
  return make("div", {class: "cost-panel", role: "group", "aria-labelledby": id},
    make("h3", {id}, `${words(panel.op)}, ${panel.dtype}`),
    make("figure", null, box, legend, readout), costsTable(panel));
}

function showWriters(data) {
  const panels = costPanels(data.writers);

  append(byId("writers-view"), panels.length
    ? panels.map((panel, i) => costsPanel(panel, `cost-panel-${i}`))
    : [make("p", null, "No candidate of this package was sampled, so there is nothing to compare.")]);
}
