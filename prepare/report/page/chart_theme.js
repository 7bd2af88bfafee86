/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both kinds of charts share: colours of the scheme in force, axes, marks that differ in shape
 * as well as in colour, and drawing again when width or scheme change.
 */
const AXIS_FONT = "12px system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif";
const WRITERS = ["ll", "sentinel", "direct", "serial", "queued", "pull", "staged", "copy_engine",
  "nccl", "wire"];
const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "down", "plus", "ring", "bar",
  "frame"];
const LINE_DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [12, 4], [3, 6], [1, 4], [6, 2],
  [4, 2, 1, 2]];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function writerStyle(writer) {
  const known = WRITERS.indexOf(writer);
  const index = known < 0 ? WRITERS.length - 1 : known;

  return {colour: `s${index}`, shape: SHAPES[index], dash: LINE_DASHES[index]};
}

const POLYGONS = {
  square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
  frame: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
  triangle: [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]],
  down: [[0, 1.2], [1.15, -0.9], [-1.15, -0.9]],
  diamond: [[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]],
  bar: [[-0.35, -1.3], [0.35, -1.3], [0.35, 1.3], [-0.35, 1.3]],
};
const STROKES = {
  cross: [[[-1, -1], [1, 1]], [[-1, 1], [1, -1]]],
  plus: [[[-1.2, 0], [1.2, 0]], [[0, -1.2], [0, 1.2]]],
};

/* The path of a mark around (x, y), for a canvas; `open` marks are stroked only. */
function markPath(shape, x, y, size) {
  const path = new Path2D();

  if (POLYGONS[shape]) {
    POLYGONS[shape].forEach(([dx, dy], i) => path[i ? "lineTo" : "moveTo"](x + dx * size, y + dy * size));
    path.closePath();
  } else if (STROKES[shape]) {
    for (const [[ax, ay], [bx, by]] of STROKES[shape]) {
      path.moveTo(x + ax * size, y + ay * size);
      path.lineTo(x + bx * size, y + by * size);
    }
  } else {
    path.arc(x, y, size, 0, 2 * Math.PI);
  }
  return {path, open: Boolean(STROKES[shape]) || shape === "ring" || shape === "frame"};
}

function drawMark(ctx, shape, x, y, size, fill, ground) {
  const {path, open} = markPath(shape, x, y, size);

  ctx.lineWidth = size / 2;
  ctx.strokeStyle = fill;
  ctx.fillStyle = STROKES[shape] ? "transparent" : open ? ground : fill;
  ctx.fill(path);
  if (open) {
    ctx.stroke(path);
  }
}

/* A legend entry's line and mark, drawn on a small canvas. */
function legendMark(writer) {
  const {colour: name, shape, dash} = writerStyle(writer);
  const canvas = make("canvas", {width: 72, height: 28, "aria-hidden": "true"});
  const ctx = canvas.getContext("2d");

  canvas.style.width = "36px";
  canvas.style.height = "14px";
  ctx.scale(2, 2);
  ctx.strokeStyle = colour(name);
  ctx.lineWidth = 2;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(0, 7);
  ctx.lineTo(36, 7);
  ctx.stroke();
  ctx.setLineDash([]);
  drawMark(ctx, shape, 18, 7, 4, colour(name), colour("card"));
  return canvas;
}

/* 1, 2 and 5 times powers of ten inside [low, high]. */
function decadeTicks(low, high) {
  const ticks = [];

  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power >= low && digit * power <= high) {
        ticks.push(digit * power);
      }
    }
  }
  return ticks;
}

function evenTicks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= raw) * power;
  const ticks = [];

  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    ticks.push(i * step);
  }
  return ticks;
}

function powerTicks(low, high, wanted) {
  const first = Math.ceil(Math.log2(low));
  const last = Math.floor(Math.log2(high));
  const step = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const ticks = [];

  for (let power = first; power <= last; power += step) {
    ticks.push(2 ** power);
  }
  return ticks.length ? ticks : [Math.sqrt(low * high)];
}

/* As many decades' ticks as there is room for. */
function thin(ticks, wanted) {
  const step = Math.max(1, Math.ceil(ticks.length / wanted));

  return ticks.filter((_, i) => i % step === 0);
}

function axisText(us) {
  return us >= 1000 ? `${us / 1000}k` : String(Number(us.toPrecision(3)));
}

function axis(options) {
  return {
    stroke: colour("quiet"), font: AXIS_FONT, labelFont: AXIS_FONT, labelSize: 18, labelGap: 2,
    grid: {stroke: colour("line"), width: 1}, ticks: {stroke: colour("line"), width: 1, size: 4},
    ...options,
  };
}

const redraws = new Map(); /* chart's box -> {build, plot, width} */

/* Builds a chart in `box` now, and again whenever its width or the colour scheme changes. */
function keepDrawn(box, build) {
  redraws.set(box, {build, plot: null, width: 0});
  sizes.observe(box);
}

function redraw(box) {
  const entry = redraws.get(box);

  entry.plot?.destroy();
  entry.width = box.clientWidth;
  entry.plot = entry.width > 0 ? entry.build(entry.width) : null;
}

const sizes = new ResizeObserver((entries) => {
  for (const {target} of entries) {
    if (!target.isConnected) {
      sizes.unobserve(target);
      redraws.get(target)?.plot?.destroy();
      redraws.delete(target);
    } else if (redraws.get(target)?.width !== target.clientWidth) {
      redraw(target);
    }
  }
});

const schemeListeners = [];

function watchScheme() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const box of redraws.keys()) {
      redraw(box);
    }
    for (const listener of schemeListeners) {
      listener();
    }
  });
}
