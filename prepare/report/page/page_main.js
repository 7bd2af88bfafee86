/* SPDX-License-Identifier: Apache-2.0 */
/* The page from its data element: head, tables, and which group is chosen. */
const data = JSON.parse(byId("data").textContent);
let chosen = 0;
let groupsTable = null;

function identityValue(key) {
  const row = data.identity.find((each) => each.key === key);

  return row ? row.value : null;
}

function deviceText() {
  const kind = identityValue("device.kind");
  const model = identityValue("device.model");

  return kind === "host" ? "host device" : [model, kind && `(${kind})`].filter(Boolean).join(" ") || "not recorded";
}

function showHead() {
  const capacities = [...new Set(data.groups.map(({capacity}) => capacity))];
  const facts = [
    ["Ranks", number(data.world)],
    ["Topology", data.topology.class || "not recorded"],
    ["Device", deviceText()],
    ["Workload", identityValue("workload") || "not recorded"],
    ["Groups", [number(data.groups.length), ` at ${counted(capacities.length, "capacity", "capacities")}`]],
    ["Candidates", number(data.candidates, data.candidates.toLocaleString("en"))],
    ["Samples", number(data.samples, data.samples.toLocaleString("en"))],
    ["File", number(data.package.bytes, `${data.package.bytes.toLocaleString("en")} B`)],
  ];

  byId("digest").textContent = data.package.sha256;
  append(byId("facts"), facts.map(([name, value]) => make("div", null, make("dt", null, name), make("dd", null, value))));
  byId("made").textContent = `Made from the package by ${data.tool.name} ${data.tool.version}; a`
    + " package does not record the version that exported it. This page is complete in itself and"
    + " asks nothing of a network.";
  if (data.shown.samples !== "all" || data.shown.candidates !== "all") {
    byId("samples").querySelector("h2").after(make("p", {class: "notice", id: "shown-less"}, [
      data.shown.samples !== "all" ? "This package has more samples than a page can carry: bounds and medians stand for them. " : "",
      data.shown.candidates !== "all" ? "Of its candidates only picks and those that were sampled again are here. " : "",
      "Nothing is estimated; the catalog has every sample.",
    ]));
  }
}

function chooseGroup(index, focus) {
  chosen = index;
  byId("choose-group").value = String(index);
  byId("previous-group").disabled = index === 0;
  byId("next-group").disabled = index === data.groups.length - 1;
  showGroup(data.groups[index], data);
  for (const button of byId("groups-table").querySelectorAll("button[data-group]")) {
    const pressed = Number(button.dataset.group) === index;
    button.setAttribute("aria-pressed", String(pressed));
    button.closest("tr").classList.toggle("chosen", pressed);
  }
  if (focus) {
    byId("samples-title").focus({preventScroll: true});
    byId("samples").scrollIntoView();
  }
}

function groupText(group) {
  const pick = pickOf(group);

  return [group.name, group.op, words(group.op), group.dtype, `capacity ${group.capacity}`,
    byteText(group.bytes), pick.name, pick.writer, pick.reason].join(" ").toLowerCase();
}

function medianOf(group) {
  const stage = decided(pickOf(group));

  return stage ? stage.median_ns : null;
}

function groupColumns() {
  return [
    {
      title: "Group", kind: "name", value: (group) => group.name,
      cell: (group) => make("button", {
        type: "button", "data-group": String(group.index), "aria-pressed": String(group.index === chosen),
        "aria-label": `${group.name} at capacity ${group.capacity}: show its samples`,
        onclick: () => chooseGroup(group.index, true),
      }, group.name),
    },
    {title: "Capacity", number: true, value: (group) => group.capacity, cell: (group) => number(group.capacity)},
    {title: "Pick", kind: "nowrap", value: (group) => pickOf(group).name, cell: (group) => pickOf(group).name},
    {title: "Median µs", number: true, value: (group) => medianOf(group) ?? -1, cell: (group) => time(medianOf(group))},
    {
      title: "Interval µs", number: true, value: (group) => decided(pickOf(group))?.low_ns ?? -1,
      cell: (group) => {
        const stage = decided(pickOf(group));
        return stage ? interval(stage.low_ns, stage.high_ns) : "–";
      },
    },
    {title: "Op", kind: "nowrap", value: (group) => group.op, cell: (group) => words(group.op)},
    {title: "Type", value: (group) => group.dtype, cell: (group) => group.dtype},
    {title: "Bytes a rank", number: true, value: (group) => group.bytes, cell: (group) => number(group.bytes, byteText(group.bytes))},
    {title: "Reason", kind: "prose", value: (group) => pickOf(group).reason, cell: (group) => pickOf(group).reason},
  ];
}

function showGroups() {
  const filter = byId("filter");

  data.groups.forEach((group, index) => {
    group.index = index;
    group.text = groupText(group);
  });
  groupsTable = makeTable(groupColumns(), data.groups, {
    caption: "Picks by group and capacity. A head sorts; a group's name shows its samples.",
    tall: true, pinned: true, rowClass: (group) => (group.index === chosen ? "chosen" : null),
  });
  append(byId("groups-table"), [groupsTable.node]);
  const apply = () => {
    const parts = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = data.groups.filter((group) => parts.every((part) => group.text.includes(part)));
    groupsTable.show(shown);
    byId("filter-count").textContent = shown.length === data.groups.length
      ? counted(shown.length, "group", "groups") : `${shown.length} of ${counted(data.groups.length, "group", "groups")}`;
  };
  filter.addEventListener("input", apply);
  apply();
}

function showChooser() {
  const choose = byId("choose-group");

  append(choose, data.groups.map((group, i) =>
    make("option", {value: String(i)}, `${group.name}, capacity ${group.capacity}`)));
  choose.addEventListener("change", () => chooseGroup(Number(choose.value), false));
  byId("previous-group").addEventListener("click", () => chooseGroup(chosen - 1, false));
  byId("next-group").addEventListener("click", () => chooseGroup(chosen + 1, false));
  if (data.groups.length) {
    chooseGroup(0, false);
  }
}

function measuredLoad() {
  if (!data.load) {
    return make("p", {class: "notice", id: "load-none"}, "No load was measured for this page. A"
      + " package records no times of loading, which belong to the machine that loads: keep what ",
    make("code", null, "tfrun PACKAGE --check --json"), " prints there, and give it to ",
    make("code", null, "tfprep report --load FILE"), ".");
  }
  const most = Math.max(1, ...data.load.phases.map(({ns}) => ns));
  return makeTable([
    {title: "Phase", kind: "nowrap", cell: ({name}) => name.replaceAll("_", " ")},
    {title: "ms", number: true, cell: ({ns}) => number(ns, milliseconds(ns))},
    {
      title: "", kind: "bar-cell",
      cell: ({ns, total}) => {
        const bar = make("span", {class: "bar", "aria-hidden": "true"});
        bar.style.width = `${(100 * ns) / most}%`;
        return total ? null : bar;
      },
    },
  ], [...data.load.phases, {name: "until ready", ns: data.load.total_ns, total: true}], {
    caption: ["One load, as ", make("code", null, "tfrun --check"), " measured it. A phase is that of"
      + " the slowest rank, so phases may add up to more than the whole."],
    rowClass: ({total}) => (total ? "picked" : null),
  }).node;
}

function showLoad() {
  const graphs = makeTable([
    {title: "Graph", kind: "nowrap", cell: ({kind, capacity}) => (kind === "step" ? `step, capacity ${capacity}` : "startup")},
    {title: "Nodes", number: true, cell: ({nodes}) => number(nodes)},
    {title: "Edges", number: true, cell: ({edges}) => number(edges)},
  ], data.graphs, {
    caption: ["Graphs that a load rebuilds; the startup graph only for ", make("code", null, "tfrun --drift"), "."],
  }).node;

  append(byId("load-view"), [
    make("p", null, "Every rank maps ", number(data.segment_bytes, byteText(data.segment_bytes)),
      " and reads a catalog of ", number(data.members[0].bytes, byteText(data.members[0].bytes)), "."),
    make("div", {class: "beside"}, measuredLoad(), graphs),
  ]);
}

function showTables() {
  append(byId("identity-table"), [makeTable([
    {title: "Key", kind: "nowrap", cell: ({key}) => key},
    {title: "Value", kind: "hash", cell: ({value}) => value},
  ], data.identity, {caption: "Identity of the package."}).node]);
  append(byId("members-table"), [makeTable([
    {title: "Name", value: ({name}) => name, cell: ({name}) => name},
    {title: "Bytes", number: true, value: ({bytes}) => bytes, cell: ({bytes}) => number(bytes, bytes.toLocaleString("en"))},
    {title: "SHA-256", kind: "hash", cell: ({sha256}) => sha256},
  ], data.members, {caption: "Members of the package's archive.", tall: data.members.length > 20}).node]);
}

showHead();
showTopology(data);
showGroups();
showChooser();
showWriters(data);
showLoad();
showTables();
watchScheme();
