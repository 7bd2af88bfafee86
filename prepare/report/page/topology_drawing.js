/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks on a circle and a line for each pair. Kinds of links differ in dashes and colour, and are
 * named in the legend and in the matrix; up to four ranks the lines carry their names too.
 */
const CLASS_TEXTS = {
  local: "ranks on the host device",
  switched: "every pair of ranks meets under PCIe switches, NVLink or NVSwitch",
  "host-bridge": "some pair of ranks meets at a root complex",
  ring: "hosts cabled to each other without a switch",
  fabric: "hosts on a switched RoCE fabric",
};
const LINK_TEXTS = {
  nvlink: "NVLink, directly or through NVSwitch",
  pix: "the paths meet at a PCIe switch",
  phb: "the paths meet at one host bridge",
  node: "at different host bridges of one socket",
  sys: "across sockets",
};
const DASHES = [null, "7 4", "2 4", "10 3 2 3", "4 2"];

function linkText(link) {
  return link.bandwidth_gbps === null ? link.link : `${link.link}, ${link.bandwidth_gbps} GB/s`;
}

/* Both directions, once where they are alike. */
function pairText(links, i, j) {
  const there = linkText(links[i][j]);
  const back = linkText(links[j][i]);

  return there === back ? there : `${there} / ${back}`;
}

function nodePlaces(count, width, height) {
  const turn = count === 2 ? 0 : -Math.PI / 2 + (count === 4 ? Math.PI / 4 : 0);

  return Array.from({length: count}, (_, i) => {
    const angle = turn + (count === 2 ? Math.PI : 0) + (2 * Math.PI * i) / count;
    return {
      x: width / 2 + Math.cos(angle) * (width / 2 - 60),
      y: height / 2 + Math.sin(angle) * (height / 2 - 42),
    };
  });
}

function labelAt(x, y, text) {
  const wide = text.length * 7.2 + 8;

  return draw("g", null,
    draw("rect", {class: "halo", x: x - wide / 2, y: y - 11, width: wide, height: 19, rx: 4}),
    draw("text", {x, y: y + 3}, text));
}

function drawNode(place, rank, model) {
  return draw("g", null,
    draw("circle", {class: "node", cx: place.x, cy: place.y, r: 30}),
    draw("text", {x: place.x, y: place.y + (model ? 0 : 4)}, `rank ${rank}`),
    model ? draw("text", {class: "small", x: place.x, y: place.y + 15}, model) : null);
}

function linkKinds(links) {
  const kinds = new Map();

  for (let i = 0; i < links.length; i++) {
    for (let j = i + 1; j < links.length; j++) {
      const text = pairText(links, i, j);
      kinds.set(text, (kinds.get(text) || 0) + 1);
    }
  }
  return kinds;
}

function linkLine(index, ends) {
  const line = draw("line", {...ends, "stroke-dasharray": DASHES[index % DASHES.length]});

  line.style.stroke = `var(--s${index % 10})`;
  return line;
}

function drawLinks(places, links, kinds) {
  const names = [...kinds.keys()];
  const parts = [];
  const labels = [];

  for (let i = 0; i < links.length; i++) {
    for (let j = i + 1; j < links.length; j++) {
      const text = pairText(links, i, j);
      const {x: x1, y: y1} = places[i];
      const {x: x2, y: y2} = places[j];
      parts.push(linkLine(names.indexOf(text), {x1, y1, x2, y2}));
      if (links.length <= 4) {
        /* Off the middle, where two diagonals would lay their names over each other. */
        const part = links.length === 4 && j - i === 2 ? (i === 0 ? 0.3 : 0.7) : 0.5;
        labels.push(labelAt(x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, text));
      }
    }
  }
  return [parts, labels];
}

/* Without a matrix: the host device's ranks share memory, and of others nothing is known. */
function drawUnlinked(places, host, width, height) {
  const x = width / 2;
  const y = height / 2;

  if (host) {
    return [places.map((place) => draw("line", {x1: place.x, y1: place.y, x2: x, y2: y})),
      draw("rect", {class: "hub", x: x - 66, y: y - 24, width: 132, height: 48, rx: 8}),
      draw("text", {x, y: y - 3}, "memory of"), draw("text", {x, y: y + 14}, "one machine")];
  }
  return places.flatMap((a, i) => places.slice(i + 1).map((b) => draw("line", {
    x1: a.x, y1: a.y, x2: b.x, y2: b.y, "stroke-dasharray": "2 6",
  })));
}

function topologyLabel(data, links) {
  if (links) {
    return [...linkKinds(links)].map(([text, count]) => `${counted(count, "pair", "pairs")} of ranks by ${text}`).join("; ");
  }
  return data.topology.device === "host"
    ? `${data.world} ranks that share the memory of one machine`
    : `${data.world} ranks; the links between them are not recorded`;
}

function drawTopology(data) {
  const {links, models, device} = data.topology;
  const count = links ? links.length : data.world;
  const width = 420;
  const height = count === 2 ? 130 : 320;
  const places = nodePlaces(count, width, height);

  return draw("svg", {
    class: "drawing", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Topology: ${topologyLabel(data, links)}.`,
  }, links ? drawLinks(places, links, linkKinds(links))
    : drawUnlinked(places, device === "host", width, height),
  places.map((place, rank) => drawNode(place, rank, models[rank])));
}

function linkLegend(kinds) {
  return make("ul", {class: "legend"}, [...kinds].map(([text, count], i) => {
    const line = linkLine(i, {x1: 0, y1: 7, x2: 36, y2: 7, "stroke-width": 2});
    const meaning = LINK_TEXTS[text.split(",")[0]];
    return make("li", null, draw("svg", {width: 36, height: 14, "aria-hidden": "true"}, line),
      `${text}: ${counted(count, "pair", "pairs")}${meaning ? ` (${meaning})` : ""}`);
  }));
}

function linkMatrix(links) {
  return makeTable([
    {title: "from", kind: "nowrap", cell: (row) => `rank ${row}`},
    ...links.map((_, to) => ({
      title: `to rank ${to}`, kind: "nowrap",
      cell: (row) => (row === to ? "–" : linkText(links[row][to])),
    })),
  ], links.map((_, row) => row), {
    caption: "Links by rank. GB/s are decimal gigabytes a second, one way.", pinned: true,
  }).node;
}

function topologyText(data) {
  const {device, links} = data.topology;
  const name = data.topology.class;
  const meaning = CLASS_TEXTS[name] || "a class that this page does not know";
  const parts = [name ? `Class ${name}: ${meaning}.` : "The package records no topology class."];

  if (device === "host" && name && name !== "local") {
    parts.push("Here the class only selected the ladder: this package was prepared on the host"
      + " device, whose ranks are processes of one machine.");
  }
  if (!links && device !== "host") {
    parts.push(`No links are known: ${data.topology.note}.`);
  }
  if (links && links.length < data.world) {
    parts.push(`Drawn are the ${links.length} ranks of one host; ${data.world} take part.`);
  }
  if (links) {
    parts.push("Packages hold no bus ids, so the paths between devices are not in them;"
      + " tfprep topology shows those of a machine.");
  }
  return parts.join(" ");
}

function showTopology(data) {
  const {links} = data.topology;

  append(byId("topology-view"), [make("div", {class: "beside"},
    make("figure", null, drawTopology(data), links ? linkLegend(linkKinds(links)) : null),
    make("div", null, make("p", {id: "topology-text"}, topologyText(data)),
      links ? linkMatrix(links) : null))]);
}
