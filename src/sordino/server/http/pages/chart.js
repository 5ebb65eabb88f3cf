// Bars with whiskers: released numbers and their 95 % radii.

const SVG = "http://www.w3.org/2000/svg";

function node(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export function shortNumber(value) {
  if (typeof value !== "number") return String(value);
  return Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3)
    ? String(Number(value.toPrecision(4))).includes("e") ? String(Number(value.toPrecision(4))) : value.toExponential().replace(/(\.\d{3})\d+e/, "$1e")
    : String(Number(value.toPrecision(7)));
}

// names: a label per bar; values: numbers; radii: a radius or null per bar.
export function drawBars(title, names, values, radii) {
  // As wide as there is room, so that letters keep their size on a phone.
  const width = Math.min(640, Math.max(280, document.documentElement.clientWidth - 66));
  const step = 26, left = width < 480 ? 90 : 150, top = 26, right = 90, letters = width < 480 ? 12 : 20;
  const low = Math.min(0, ...values.map((value, at) => value - (radii[at] ?? 0)));
  const high = Math.max(0, ...values.map((value, at) => value + (radii[at] ?? 0)));
  const span = high - low || 1;
  const x = (value) => left + ((value - low) / span) * (width - left - right);
  const height = top + step * values.length + 8;
  const chart = node("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  chart.append(node("title", {}, `${title}: ${names.map((name, at) => `${name} ${shortNumber(values[at])}`).join(", ")}`));
  chart.append(node("text", { x: 0, y: 14 }, title));
  values.forEach((value, at) => {
    const y = top + at * step, middle = y + step / 2 - 2;
    const label = names[at].length > letters ? `${names[at].slice(0, letters - 1)}…` : names[at];
    chart.append(node("text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, label));
    const from = Math.min(x(0), x(value)), to = Math.max(x(0), x(value));
    chart.append(node("rect", { class: "bar", x: from, y, width: Math.max(1, to - from), height: step - 8 }));
    const radius = radii[at];
    if (radius !== null && radius !== undefined) {
      chart.append(node("line", { class: "whisker", x1: x(value - radius), x2: x(value + radius), y1: middle - 2, y2: middle - 2 }));
      for (const end of [value - radius, value + radius]) {
        chart.append(node("line", { class: "whisker", x1: x(end), x2: x(end), y1: middle - 7, y2: middle + 3 }));
      }
    }
    const edge = Math.max(x(0), x(value + (radius ?? 0)));
    chart.append(node("text", { x: edge + 6, y: middle + 4 }, shortNumber(value)));
  });
  chart.append(node("line", { class: "axis", x1: x(0), x2: x(0), y1: top - 4, y2: height - 6 }));
  return chart;
}
