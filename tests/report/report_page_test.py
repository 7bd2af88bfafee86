#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report's page in headless Chromium: what it shows against the package's catalog.

  report_page_test.py --tfprep FILE --tfrun FILE --pages FILE [--shots FOLDER]

--pages is the program that writes pages of machines that are not here; --shots keeps pictures.
Exit code 77 where there is no browser.
"""
import argparse
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import headless_browser

ARGS = None
BOUND_S = 120

# The worst contrast of text with what lies behind it, over all elements that hold text themselves.
CONTRAST = """(() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return {rgb: [r, g, b], a};
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => {
      const v = c / 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const {rgb, a} = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return rgb;
      if (a > 0) throw new Error(`half a background: ${at.outerHTML.slice(0, 80)}`);
    }
    return [255, 255, 255];
  };
  let worst = {ratio: 99};
  let count = 0;
  for (const node of document.body.querySelectorAll("*")) {
    const holds = [...node.childNodes].some((c) => c.nodeType === 3 && c.data.trim());
    if (!holds || node.closest("script, svg, option, noscript") || !node.getClientRects().length) continue;
    const [a, b] = [luminance(parse(getComputedStyle(node).color).rgb), luminance(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    count++;
    if (ratio < worst.ratio) worst = {ratio, node: node.outerHTML.slice(0, 120)};
  }
  return {...worst, count};
})()"""

# Texts of a table's body, the numbers of its data elements first where a cell has any.
CELLS = """((selector) => [...document.querySelectorAll(`${selector} tbody tr`)].map((row) =>
  [...row.children].map((cell) => {
    const values = [...cell.querySelectorAll("data")].map((d) => d.value);
    return {text: cell.textContent, values};
  })))(%s)"""

# A canvas that nobody drew on has one colour.
COLOURS = """[...document.querySelectorAll(".chart canvas")].map((canvas) => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
})"""


def run(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=BOUND_S, text=True)


def microseconds(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = cls.stack.enter_context(tempfile.TemporaryDirectory(prefix="tf-report-"))
        cls.package = cls.path("x y.tfp")
        run(ARGS.tfprep, "export", "--device", "host", "--tp", "2", "--topology", "switched",
            "-o", cls.package)
        load = run(ARGS.tfrun, cls.package, "--check", "--json").stdout
        with open(cls.path("load.json"), "w", encoding="utf-8") as file:
            file.write(load)
        cls.load = json.loads(load)
        cls.page = cls.path("report.html")
        run(ARGS.tfprep, "report", cls.package, "--load", cls.path("load.json"), "-o", cls.page)
        run(ARGS.pages, cls.folder)
        raw = subprocess.run(["tar", "--zstd", "-xOf", cls.package, "catalog.sqlite"], check=True,
                             stdout=subprocess.PIPE, timeout=BOUND_S).stdout
        with open(cls.path("catalog.sqlite"), "wb") as file:
            file.write(raw)
        cls.catalog = sqlite3.connect(cls.path("catalog.sqlite"))
        cls.stack.callback(cls.catalog.close)
        cls.browser = headless_browser.Browser(headless_browser.find())
        cls.stack.callback(cls.browser.close)

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def rows(self, sql, *values):
        return self.catalog.execute(sql, values).fetchall()

    def open(self, page=None, width=1280, height=900, phone=False, scheme="light"):
        self.browser.size(width, height, phone)
        self.browser.scheme(scheme, reduced=True)
        self.browser.open(page or self.page)

    def cells(self, selector):
        return self.browser.value(CELLS % json.dumps(selector))

    def assert_quiet(self):
        """No error on the console, and the page itself is the only request."""
        said = [e for e in self.browser.events if e.get("method") in (
            "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]
        self.assertEqual(said, [])
        asked = [e["params"]["request"]["url"] for e in self.browser.events
                 if e.get("method") == "Network.requestWillBeSent"]
        outside = [url for url in asked if not url.startswith("data:")]
        self.assertEqual(len(outside), 1, outside)
        self.assertTrue(outside[0].startswith("file://"), outside)

    def picture(self, name):
        if ARGS.shots:
            self.browser.picture(os.path.join(ARGS.shots, f"{name}.png"))

    def test_quiet_and_drawn(self):
        for name in (self.page, *(self.path(f"{n}.html") for n in (
                "linked", "linked2", "linked8", "bounded", "large"))):
            with self.subTest(page=os.path.basename(name)):
                self.open(name)
                self.assert_quiet()
                colours = self.browser.value(COLOURS)
                self.assertGreater(len(colours), 1)
                self.assertGreater(min(colours), 8)

    def test_picks_are_the_catalogs(self):
        self.open()
        picks = self.rows("SELECT group_name, capacity, algorithm || '/' || writer || '/t' || "
                          "threads || '/c' || ctas || CASE chunk_bytes WHEN 0 THEN '' ELSE '/k' || "
                          "chunk_bytes END, median_ns, low_ns, high_ns, op, dtype, bytes, reason "
                          "FROM picks")
        self.assertGreater(len(picks), 1)
        seen = self.cells("#groups-table")
        self.assertEqual(len(seen), len(picks))
        for row, (name, capacity, pick, median, low, high, op, dtype, size, reason) in zip(
                seen, picks):
            self.assertEqual(row[0]["text"], name)
            self.assertEqual(row[1]["values"], [str(capacity)])
            self.assertEqual(row[2]["text"], pick)
            self.assertEqual(row[3], {"text": microseconds(median), "values": [str(median)]})
            self.assertEqual(row[4]["values"], [str(low), str(high)])
            self.assertEqual(row[4]["text"], f"{microseconds(low)} – {microseconds(high)}")
            self.assertEqual(row[5]["text"], op.replace("_", "-"))
            self.assertEqual(row[6]["text"], dtype)
            self.assertEqual(row[7]["values"], [str(size)])
            self.assertEqual(row[8]["text"], reason)

    def test_samples_are_the_catalogs(self):
        self.open()
        groups = self.rows("SELECT group_name, capacity FROM picks")
        for index, (name, capacity) in enumerate(groups):
            self.browser.value(
                f"document.querySelectorAll('#groups-table button[data-group]')[{index}].click()")
            self.browser.value("document.getElementById('every-sample').open = true")
            self.browser.settle()
            self.assertEqual(self.browser.value("document.getElementById('samples-title').textContent"),
                             f"Samples of {name} at capacity {capacity}")
            wanted = self.rows(
                "SELECT pass, ns FROM samples WHERE group_name = ? AND capacity = ?", name, capacity)
            table = self.cells("#every-sample")
            seen = [(number, int(value)) for number, row in enumerate(table)
                    for cell in row[1:] for value in cell["values"]]
            self.assertEqual(sorted(seen), sorted(wanted))
            self.check_candidates(name, capacity)

    def check_candidates(self, name, capacity):
        wanted = self.rows(
            "SELECT candidate, stage1_median_ns, stage1_low_ns, stage1_high_ns, stage2_median_ns, "
            "stage2_low_ns, stage2_high_ns, reason, state FROM candidates WHERE group_name = ? AND "
            "capacity = ? ORDER BY rung", name, capacity)
        seen = self.cells("#samples-view > .scroll")
        self.assertEqual([row[0]["text"] for row in seen], [row[0] for row in wanted])
        for row, values in zip(seen, wanted):
            numbers = [int(v) for cell in row[2:6] for v in cell["values"]]
            self.assertEqual(numbers, [v for v in values[1:7] if v is not None])
            self.assertEqual(row[6]["text"], values[7])
            self.assertEqual("★" in row[1]["text"], values[8] == "picked")
        label = self.browser.value("document.querySelector('#samples-view .chart').ariaLabel")
        picked = next(row for row in wanted if row[8] == "picked")
        self.assertIn(f"Picked: {picked[0]}, median {microseconds(picked[4] or picked[1])} µs", label)

    def test_writers_are_the_catalogs(self):
        self.open()
        wanted = self.rows(
            "SELECT p.op, p.dtype, p.bytes, c.writer, min(c.stage1_median_ns) FROM candidate AS c "
            "JOIN tuned_group AS g USING(tuned_group) JOIN picks AS p ON p.group_name = g.name AND "
            "p.capacity = g.capacity WHERE c.stage1_median_ns NOT NULL GROUP BY 1, 2, 3, 4")
        seen = []
        panels = self.browser.value("""[...document.querySelectorAll(".cost-panel")].map((p) => ({
          title: p.querySelector("h3").textContent,
          heads: [...p.querySelectorAll("thead th")].map((h) => h.textContent),
          rows: [...p.querySelectorAll("tbody tr")].map((r) => [...r.children].map((c) =>
            [c.querySelector("data")?.value ?? null, c.textContent])),
        }))""")
        for panel in panels:
            op, dtype = panel["title"].replace("-", "_").split(", ")
            for row in panel["rows"]:
                values = [int(value) for value, _ in row[1:] if value]
                for head, (value, text) in zip(panel["heads"][1:], row[1:]):
                    if value:
                        seen.append((op, dtype, int(row[0][0]), head.removesuffix(" µs"), int(value)))
                        self.assertEqual("★" in text, int(value) == min(values))
        self.assertEqual(sorted(seen), sorted(wanted))

    def test_identity_members_and_load(self):
        self.open()
        identity = [[cell["text"] for cell in row] for row in self.cells("#identity-table")]
        self.assertEqual(identity, [list(row) for row in self.rows(
            "SELECT key, value FROM identity ORDER BY key")])
        members = self.cells("#members-table")
        self.assertEqual(members[0][1]["values"], [str(os.path.getsize(self.path("catalog.sqlite")))])
        self.assertEqual([row[2]["text"] for row in members[1:]],
                         [row[0] for row in self.rows("SELECT sha256 FROM members")])
        digest = run("sha256sum", self.package).stdout.split()[0]
        self.assertEqual(self.browser.value("document.getElementById('digest').textContent"), digest)
        times = self.cells("#load-view .scroll:first-child")
        self.assertEqual([(r[0]["text"], int(r[1]["values"][0])) for r in times],
                         [("until ready" if k == "total" else k.replace("_", " "), v)
                          for k, v in self.load["load_ns"].items()])

    def test_sorting_and_filter(self):
        self.open()
        self.browser.value("document.querySelectorAll('#groups-table thead button')[3].click()")
        medians = [int(row[3]["values"][0]) for row in self.cells("#groups-table")]
        self.assertEqual(medians, sorted(medians))
        self.browser.value("document.querySelectorAll('#groups-table thead button')[3].click()")
        falling = [int(row[3]["values"][0]) for row in self.cells("#groups-table")]
        self.assertEqual(falling, sorted(medians, reverse=True))
        self.assertEqual(self.browser.value(
            "[...document.querySelectorAll('#groups-table th[aria-sort]')].map((h) => h.ariaSort)"),
            ["descending"])
        self.browser.value("document.getElementById('filter').focus()")
        rows = [[cell["text"] for cell in row] for row in self.cells("#groups-table")]
        size = rows[0][7].lower()
        wanted = [row for row in rows  # times are no words: 4.164 us is not found by '64'
                  if all(part in " ".join(row[:3] + row[5:]).lower() for part in size.split())]
        self.assertTrue(0 < len(wanted) < len(rows))
        for letter in size:
            self.browser.key(letter, ord(letter.upper()), letter)
        self.assertEqual(
            [[cell["text"] for cell in row] for row in self.cells("#groups-table")], wanted)
        self.assertRegex(self.browser.value("document.getElementById('filter-count').textContent"),
                         r"^\d+ of \d+ groups$")

    def focus_walk(self, limit):
        """What Tab visits from the top to the end: (name, in view, outlined)."""
        self.browser.value("document.activeElement.blur(); scrollTo(0, 0)")
        walk = []
        for _ in range(limit):
            self.browser.key("Tab", 9)
            walk.append(tuple(self.browser.value("""(() => {
              const at = document.activeElement;
              if (at === document.body) return [];
              const box = at.getBoundingClientRect();
              return [at.id || at.dataset.group || at.getAttribute("href") || at.textContent.slice(0, 24)
                || at.className, box.width > 0 && box.bottom > 0 && box.top < innerHeight,
                getComputedStyle(at).outlineStyle !== "none"];
            })()""")))
            if not walk[-1]:
                return walk[:-1]
        self.fail(f"{limit} steps do not lead through the page: {walk}")
        return []

    def test_keyboard_alone(self):
        self.open()
        walk = self.focus_walk(80)
        names = [name for name, _, _ in walk]
        self.assertEqual(names[:8], ["#main", "#topology", "#groups", "#samples", "#writers",
                                     "#load", "#identity", "#members"])
        order = [names.index(name) for name in ("filter", "0", "choose-group", "next-group")]
        self.assertEqual(order, sorted(order))
        self.assertTrue(all(seen for _, seen, _ in walk), walk)
        self.assertTrue(all(outlined for _, _, outlined in walk), walk)
        # A group is chosen by its button, and the focus follows to what it shows.
        self.browser.value("document.querySelectorAll('#groups-table button[data-group]')[1].focus()")
        self.browser.key("Enter", 13, "\r")
        self.browser.settle()
        self.assertEqual(self.browser.value("document.activeElement.id"), "samples-title")
        self.assertEqual(self.browser.value(
            "[...document.querySelectorAll('#groups-table [aria-pressed=true]')].map((b) => b.dataset.group)"),
            ["1"])
        self.browser.value("document.getElementById('next-group').focus()")
        self.browser.key(" ", 32, " ")
        self.assertEqual(self.browser.value("document.getElementById('choose-group').value"), "2")

    def test_screen_reader(self):
        self.open()
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes
                 if not n.get("ignored") and "role" in n]
        roles = {role for role, _ in named}
        self.assertLessEqual({"banner", "main", "navigation", "contentinfo", "table", "heading",
                              "columnheader", "rowheader", "status", "searchbox"}, roles)
        regions = [name for role, name in named if role == "region"]
        for section in ("Topology", "Groups and their picks", "Identity", "Members"):
            self.assertIn(section, regions)
        for role, name in named:
            if role in ("button", "link", "image", "img", "table", "searchbox", "combobox", "region"):
                self.assertTrue(name.strip(), (role, name))
        pictures = [name for role, name in named if role in ("image", "img")]
        self.assertTrue(any(name.startswith("Topology: ") for name in pictures), pictures)
        self.assertTrue(any(name.startswith("Samples of ") for name in pictures), pictures)
        self.assertEqual(self.browser.value("document.documentElement.lang"), "en")
        levels = self.browser.value(
            "[...document.querySelectorAll('h1, h2, h3')].map((h) => Number(h.tagName[1]))")
        self.assertEqual(levels.count(1), 1)
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)
        ids = self.browser.value("[...document.querySelectorAll('[id]')].map((e) => e.id)")
        self.assertEqual(len(ids), len(set(ids)))

    def test_widths_and_schemes(self):
        cases = [("report", width, scheme) for width in (360, 768, 1280)
                 for scheme in ("light", "dark")]
        cases += [(name, 360, "light") for name in ("linked", "linked8", "bounded", "large")]
        for name, width, scheme in cases:
            with self.subTest(page=name, width=width, scheme=scheme):
                self.open(self.path(f"{name}.html"), width, 800, width == 360, scheme)
                self.browser.value("for (const d of document.querySelectorAll('details'))"
                                   " d.open = true")
                self.browser.settle()
                self.assertEqual(
                    self.browser.value("document.documentElement.scrollWidth"), width)
                worst = self.browser.value(CONTRAST)
                self.assertGreater(worst["count"], 50)
                self.assertGreaterEqual(worst["ratio"], 4.5, worst)
                self.picture(f"{name}-{width}-{scheme}")

    def test_scheme_changes_charts(self):
        self.open()
        colour = ("(() => { const c = document.querySelector('#writers-view .chart canvas');"
                  "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                  "let n = 0; for (let i = 0; i < d.length; i += 4) n = (n * 31 + d[i]) % 65521;"
                  "return n; })()")
        before = self.browser.value(colour)
        self.browser.scheme("dark")
        self.assertNotEqual(self.browser.value(colour), before)

    def hover(self, selector, above=0.5):
        """Moves the pointer along a chart, `above` times its height from the top (negative: pixels
        above the bottom); the texts that its readout took."""
        self.browser.value(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
        x, y, width, height = self.browser.value(
            f"(() => {{ const b = document.querySelector('{selector} .u-over').getBoundingClientRect();"
            " return [b.x, b.y, b.width, b.height]; })()")
        texts = set()
        down = height * above if above > 0 else height + above
        for step in range(1, 40):
            self.browser.call("Input.dispatchMouseEvent", type="mouseMoved",
                              x=x + width * step / 40, y=y + down)
            self.browser.settle()
            texts.add(self.browser.value(
                f"document.querySelector('{selector}').parentElement"
                ".querySelector('.readout').textContent"))
        return texts

    def test_pointer(self):
        self.open()
        texts = self.hover("#samples-view .chart", -22)  # between the lanes of the last row
        self.assertTrue(any(text.startswith("Point at") for text in texts))
        texts = [text for text in texts if not text.startswith("Point at")]
        self.assertGreater(len(texts), 1)
        for text in texts:
            found = re.match(r"(\S+), stage ([12]), pass (\d+): ([\d.]+) µs, slowest rank", text)
            name, stage, number, shown = found.groups()
            ns = self.rows("SELECT ns FROM samples AS s JOIN picks USING(group_name, capacity) WHERE "
                           "s.capacity = 1 AND candidate = ? AND stage = ? AND pass = ?",
                           name, int(stage), int(number))[0][0]
            self.assertEqual(shown, microseconds(ns))
        sizes = {text.split(":")[0] for text in self.hover("#writers-view .chart")}
        self.assertLessEqual({"8 KiB", "64 KiB"}, sizes)

    def test_texts_stay_texts(self):
        self.open(self.path("linked.html"))
        self.assert_quiet()
        self.assertEqual(self.browser.value("document.title"),
                         "</title><b>unkind & \"quoted\".tfp – tfprep report")
        self.assertEqual(self.browser.value("document.getElementById('title').textContent"),
                         "</title><b>unkind & \"quoted\".tfp")
        self.assertEqual(self.browser.value("document.querySelectorAll('body img, body b').length"), 0)
        self.assertIn("<img src=x", self.browser.value(
            "document.querySelector('#groups-table tbody').textContent"))

    def test_links_are_drawn(self):
        self.open(self.path("linked8.html"))
        self.assertEqual(self.browser.value("document.querySelectorAll('.drawing .node').length"), 8)
        self.assertEqual(self.browser.value("document.querySelectorAll('.drawing line').length"), 28)
        self.assertEqual(self.browser.value("document.querySelector('.drawing').ariaLabel"),
                         "Topology: 12 pairs of ranks by nvlink, 478 GB/s; 16 pairs of ranks by sys.")
        self.open(self.path("linked.html"))
        self.assertEqual(self.browser.value(
            "[...document.querySelectorAll('.drawing text')].map((t) => t.textContent).filter("
            "(t) => t.startsWith('nvlink')).length"), 3)

    def test_less_is_said(self):
        self.open(self.path("bounded.html"))
        self.assertIn("more samples than a page can carry",
                      self.browser.value("document.getElementById('shown-less').textContent"))
        self.assertIn("Only bounds are shown",
                      self.browser.value("document.querySelector('#samples-view figcaption').textContent"))
        self.open()
        self.assertIsNone(self.browser.value("document.getElementById('shown-less')"))


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    for name in ("tfprep", "tfrun", "pages"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--shots")
    ARGS, rest = parser.parse_known_args()
    if not headless_browser.find():
        print("skipped: no chromium")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


main()
