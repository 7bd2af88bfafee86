/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building elements, and numbers as text. Texts of the package are only ever set as text, never as
 * markup. Every number shown is exact, and stands as it is in the catalog in a data element.
 */
const SVG = "http://www.w3.org/2000/svg";

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child);
    }
  }
  return node;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") {
      node.addEventListener("click", value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  return node;
}

function make(tag, attributes, ...children) {
  return append(setAttributes(document.createElement(tag), attributes), children);
}

function draw(tag, attributes, ...children) {
  return append(setAttributes(document.createElementNS(SVG, tag), attributes), children);
}

function byId(id) {
  return document.getElementById(id);
}

/* Nanoseconds as microseconds with three places: exact. */
function microseconds(ns) {
  return `${Math.floor(ns / 1000)}.${String(ns % 1000).padStart(3, "0")}`;
}

function milliseconds(ns) {
  return (ns / 1e6).toFixed(3);
}

/* In the largest binary unit that leaves a whole number. */
function byteText(bytes) {
  if (bytes >= 1048576 && bytes % 1048576 === 0) {
    return `${(bytes / 1048576).toLocaleString("en")} MiB`;
  }
  if (bytes >= 1024 && bytes % 1024 === 0) {
    return `${(bytes / 1024).toLocaleString("en")} KiB`;
  }
  return `${bytes.toLocaleString("en")} B`;
}

function number(value, text) {
  return make("data", {value}, text === undefined ? String(value) : text);
}

function time(ns) {
  return ns === null ? "–" : number(ns, microseconds(ns));
}

function interval(low, high) {
  return [time(low), " – ", time(high)];
}

function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

function words(name) {
  return name.replaceAll("_", "-");
}
