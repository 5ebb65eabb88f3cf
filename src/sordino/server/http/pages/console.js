// The console: everything it shows comes from the API, and every text is set as text, never as HTML.

import { drawBars, shortNumber } from "/console/chart.js";

const find = (id) => document.getElementById(id);
let me = null;
let previewed = null;
let toldSpent = null; // as it was told last

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return made;
}

async function call(method, path, body) {
  const headers = me ? { "X-Sordino-Proof": me.proof } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response, content;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin" });
    content = await response.json();
  } catch {
    throw { code: "engine", message: "the server does not answer; a question that was sent may have been paid for: ask it again with 'free if asked before'" };
  }
  if (!response.ok) {
    if (response.status === 401 && me) showLogin();
    throw content.error;
  }
  return content;
}

// -- logging in -------------------------------------------------------------------------------------------------------

function showLogin() {
  me = null;
  find("console").hidden = true;
  find("login").hidden = false;
  find("token").value = "";
  find("token").focus();
}

async function showConsole(identity) {
  me = identity;
  find("login").hidden = true;
  find("console").hidden = false;
  find("dataset").textContent = me.dataset;
  find("who").textContent = me.owner ? `${me.name} (owner)` : me.name;
  find("owner-tab").hidden = !me.owner;
  await showTables();
  find("sql").focus();
}

find("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  find("login-error").textContent = "";
  try {
    await showConsole(await call("POST", "/login", { token: find("token").value }));
  } catch (error) {
    find("login-error").textContent = error.message;
  }
});

find("logout").addEventListener("click", async () => {
  await call("POST", "/logout");
  showLogin();
});

// -- pages ------------------------------------------------------------------------------------------------------------

for (const tab of document.querySelectorAll("nav [data-page]")) {
  tab.addEventListener("click", async () => {
    for (const other of document.querySelectorAll("nav [data-page]")) {
      other === tab ? other.setAttribute("aria-current", "page") : other.removeAttribute("aria-current");
    }
    for (const page of document.querySelectorAll("[data-shown]")) page.hidden = page.dataset.shown !== tab.dataset.page;
    if (tab.dataset.page === "history") await showHistory();
    if (tab.dataset.page === "owner") await showOwner();
  });
}

// -- tables and budget ------------------------------------------------------------------------------------------------

function describeColumn(column) {
  const parts = [column.type];
  if (column.bounds) parts.push(`${shortNumber(column.bounds[0])} to ${shortNumber(column.bounds[1])}`);
  if (column.period) parts.push(column.period.join(" to "));
  if (column.fixed) parts.push("fixed");
  if (column.domain) parts.push(column.domain.length > 6 ? `${column.domain.length} values` : column.domain.map(String).join(", "));
  return parts.join(" · ");
}

function describeTable(table) {
  const parts = table.owners.length ? [`rows of ${table.owners.map((owner) => `one ${owner}`).join(" and of ")}`] : [];
  if (table.key.length) parts.push(`no two rows share ${table.key.join(", ")}`);
  parts.push(...Object.entries(table.foreign_keys).map(([column, to]) => `${column} → ${to}`));
  if (table.weight !== 1) parts.push(`weight ${shortNumber(table.weight)}`);
  return parts.join(" · ");
}

function insert(text) {
  const editor = find("sql");
  editor.setRangeText(text, editor.selectionStart, editor.selectionEnd, "end");
  editor.focus();
  changed();
}

async function readTables() {
  try {
    return await call("GET", "/v1/tables");
  } catch (error) {
    if (!me?.owner || error.code !== "budget") throw error;
    find("left").textContent = "no budget of your own";
    return call("GET", "/v1/policy"); // an owner looks and explains without one
  }
}

async function showTables() {
  let told;
  try {
    told = await readTables();
  } catch (error) {
    if (me) notify(error.message);
    return;
  }
  find("distance").textContent = `Losses are per ${told.distance}.`;
  showBudget(told.budget);
  find("tables").replaceChildren(
    ...told.tables.map((table) =>
      make("details", { open: "", class: "tree" },
        make("summary", {}, table.name, table.private ? "" : " (public)"),
        make("p", { class: "small" }, describeTable(table)),
        ...table.columns.flatMap((column) => [
          make("button", { type: "button", title: "insert its name", onclick: () => insert(column.name) }, column.name),
          make("p", { class: "small" }, describeColumn(column)),
        ]))));
}

function amount(told) {
  const parts = [];
  if (told.epsilon !== undefined) parts.push(`ε ${shortNumber(told.epsilon)}`);
  if (told.rho !== undefined) parts.push(`ρ ${shortNumber(told.rho)}`);
  if (told.delta) parts.push(`δ ${shortNumber(told.delta)}`);
  return parts.join(", ");
}

function showBudget(budget) {
  if (!budget) return;
  toldSpent = JSON.stringify(budget.spent);
  const measure = budget.limit.rho === undefined ? "epsilon" : "rho";
  const limit = budget.limit[measure], spent = budget.spent[measure];
  find("gauge").value = limit ? Math.min(1, spent / limit) : 1;
  find("left").textContent = budget.suspended ? "suspended until the owner resumes it" : `${amount(budget.left)} left of ${amount(budget.limit)}`;
}

function notify(text) {
  find("notice").textContent = text;
  find("notice").hidden = !text;
}

// -- asking -----------------------------------------------------------------------------------------------------------

function question() {
  return { sql: find("sql").value, epsilon: Number(find("epsilon").value), delta: Number(find("delta").value) };
}

function changed() {
  previewed = null;
  find("pay").disabled = true;
}
for (const id of ["sql", "epsilon", "delta"]) find(id).addEventListener("input", changed);

function showError(error) {
  find("ask-error").textContent = error.message;
  const place = error.place;
  const pointed = Boolean(place && place.line);
  find("ask-place").hidden = !pointed;
  if (pointed) {
    const line = find("sql").value.split("\n")[place.line - 1] ?? "";
    find("ask-place").textContent = `${line}\n${" ".repeat(Math.max(0, place.column - 1))}^`;
  }
}

function clearError() {
  find("ask-error").textContent = "";
  find("ask-place").hidden = true;
}

function facts(pairs) {
  return make("dl", {}, ...pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function sayError(number) {
  if (number.note) return number.note;
  if (number.error === null || number.error === undefined) return "not known before: the noise follows the rows";
  return `±${shortNumber(number.error)} with 95 %`;
}

// Never less than it is: it is a bound. (What is over by rounding alone stays as it is written.)
const percent = (part) => `${Math.min(100, Math.ceil(1000 * part * (1 - 1e-12)) / 10).toFixed(1)} %`;

async function preview() {
  clearError();
  const asked = question();
  let told;
  try {
    told = await call("POST", "/v1/preview", asked);
  } catch (error) {
    find("preview-panel").hidden = true;
    find("answer-panel").hidden = true;
    showError(error);
    return;
  }
  previewed = JSON.stringify(asked);
  const cost = told.guarantee.epsilon ?? told.guarantee.rho, left = told.budget.left.epsilon ?? told.budget.left.rho;
  const pairs = [
    ["Cost", amount(told.guarantee)],
    ["Protects", told.guarantee.distance],
    ["Left now", amount(told.budget.left)],
    ["Left afterwards", amount(told.budget_after.left)],
    ["Such questions left", cost > 0 ? String(Math.floor(left / cost * (1 + 1e-12))) : "–"],
    ...told.numbers.map((number) => [`Error of ${number.name}`, sayError(number)]),
    ["Mechanism", told.mechanism],
  ];
  if (told.membership_advantage !== null && told.membership_advantage !== undefined) {
    const right = percent((1 + told.membership_advantage) / 2);
    pairs.splice(2, 0, ["Risk", `a guess whether one of them is in the data is right at most ${right} of the time (50 % without the answer)`]);
  }
  find("preview-panel").replaceChildren(
    make("h2", {}, "Before you pay"), facts(pairs), ...told.warnings.map((text) => make("p", { class: "warning" }, text)));
  find("preview-panel").hidden = false;
  find("pay").disabled = !told.affordable;
}

async function pay() {
  if (previewed !== JSON.stringify(question())) return;
  clearError();
  find("pay").disabled = true;
  find("preview-panel").hidden = true;
  find("answer-panel").replaceChildren(make("p", {}, "Asking …"));
  find("answer-panel").hidden = false;
  try {
    const told = await call("POST", "/v1/query", { ...question(), reuse: find("reuse").checked });
    showAnswer(told.release, toldSpent === JSON.stringify(told.budget.spent) ? "You had paid for this answer before: nothing was paid." : "");
    showBudget(told.budget);
  } catch (error) {
    find("answer-panel").hidden = true;
    showError(error);
    if (error.code === "suspended" || error.code === "engine") notify(error.message);
  }
  changed();
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  preview();
});
find("pay").addEventListener("click", pay);
find("sql").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    event.shiftKey ? pay() : preview();
  }
});

// -- answers ----------------------------------------------------------------------------------------------------------

const isNumber = (value) => typeof value === "number";

function showRows(rows) {
  const names = Object.keys(rows[0] ?? {});
  const numeric = new Set(names.filter((name) => rows.every((row) => row[name] === null || isNumber(row[name]))));
  const cell = (tag, name, text) => make(tag, numeric.has(name) ? { class: "number" } : {}, text);
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...names.map((name) => cell("th", name, name)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...names.map((name) =>
      cell("td", name, row[name] === null ? "NULL" : isNumber(row[name]) ? shortNumber(row[name]) : row[name])))))));
}

function charts(release) {
  const rows = release.value;
  const measures = release.errors ? Object.keys(release.errors) : [];
  const keys = Object.keys(rows[0] ?? {}).filter((name) => !measures.includes(name) && !name.endsWith("_error"));
  if (rows.length < 2 || rows.length > 60) return [];
  return measures
    .filter((name) => rows.every((row) => isNumber(row[name])))
    .map((name) => drawBars(name, rows.map((row) => keys.map((key) => row[key]).join(", ")),
      rows.map((row) => row[name]), rows.map((row) => row[`${name}_error`] ?? release.errors[name] ?? null)));
}

function copyText(release) {
  const rows = Array.isArray(release.value) ? release.value : [{ value: release.value }];
  const names = Object.keys(rows[0] ?? {});
  const quote = (value) => (value === null ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((line) => line.map(quote).join(",")).join("\n");
}

function showAnswer(release, said = "") {
  const parts = [make("h2", {}, "Answer"), ...(said ? [make("p", {}, said)] : [])];
  const table = Array.isArray(release.value) && typeof release.value[0] === "object";
  if (table) parts.push(showRows(release.value), ...charts(release));
  else {
    const value = isNumber(release.value) ? shortNumber(release.value) : JSON.stringify(release.value);
    parts.push(make("p", { class: "value" }, value, release.error === undefined ? "" : ` ± ${shortNumber(release.error)}`));
    if (isNumber(release.value) && isNumber(release.error)) parts.push(drawBars("", [""], [release.value], [release.error]));
  }
  const notes = release.notes ?? [];
  const cut = notes.some((note) => note.endsWith("is not in the error")) ? ", apart from what a limit cuts off" : "";
  if (release.error !== undefined) parts.push(make("p", { class: "small" }, `95 % of draws lie within ±${shortNumber(release.error)} of the exact ${table ? "values, each by itself" : "value"}${cut}.`));
  parts.push(...notes.map((note) => make("p", { class: "small" }, note)));
  parts.push(facts([["Guarantee", `${amount(release.guarantee)} for ${release.guarantee.distance}`], ["Theorem", release.guarantee.theorem], ["Mechanism", release.mechanism]]));
  const copy = make("button", { type: "button", class: "quiet", onclick: async () => { await navigator.clipboard.writeText(copyText(release)); notify("Copied as CSV."); } }, "Copy as CSV");
  parts.push(copy);
  find("answer-panel").replaceChildren(...parts);
  find("answer-panel").hidden = false;
}

// -- history ----------------------------------------------------------------------------------------------------------

async function showHistory() {
  const told = await call("GET", "/v1/history?limit=200");
  const outcome = { commit: "answered", suspend: "failed", refund: "given back", "under way": "under way" };
  const rows = told.questions.map((item) =>
    make("tr", {}, make("td", {}, item.time.slice(0, 19).replace("T", " ")),
      make("td", {}, make("button", { type: "button", class: "link mono", onclick: () => again(item) }, item.question)),
      make("td", {}, amount(item.cost)), make("td", {}, outcome[item.outcome] ?? item.outcome)));
  find("history-list").replaceChildren(rows.length
    ? make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...["when (UTC)", "question", "cost", "outcome"].map((name) => make("th", {}, name)))), make("tbody", {}, ...rows)))
    : make("p", {}, "Nothing yet."));
}

function again(item) {
  document.querySelector('nav [data-page="ask"]').click();
  find("sql").value = item.question;
  if (item.cost.epsilon) find("epsilon").value = String(item.cost.epsilon);
  find("delta").value = String(item.cost.delta ?? 0);
  changed();
  if (item.release) showAnswer(item.release);
}

// -- the owner --------------------------------------------------------------------------------------------------------

async function showOwner() {
  find("accounts-error").textContent = find("owner-error").textContent = "";
  try {
    showAccounts((await call("GET", "/v1/accounts")).accounts);
    showPolicy(await call("GET", "/v1/policy"));
  } catch (error) {
    find("owner-error").textContent = error.message;
  }
}

function showAccounts(accounts) {
  const act = async (path, body) => {
    try {
      await call("POST", path, body);
      await showOwner();
    } catch (error) {
      find("accounts-error").textContent = error.message;
    }
  };
  const rows = accounts.map((account) => {
    const limit = make("input", { size: 6, inputmode: "decimal", "aria-label": `limit of ${account.analyst}`, value: account.limit.epsilon ?? account.limit.rho });
    const at = account.analyst === null ? null : `/v1/accounts/${encodeURIComponent(account.analyst)}`;
    const measure = account.limit.rho === undefined ? "epsilon" : "rho";
    const buttons = at === null ? [] : [
      limit,
      make("button", { type: "button", onclick: () => act(`${at}/grant`, { [measure]: Number(limit.value), delta: account.limit.delta ?? 0, at_delta: account.limit.at_delta }) }, "Set"),
      make("button", { type: "button", class: "quiet", onclick: () => act(`${at}/revoke`) }, "Revoke"),
      ...(account.suspended ? [make("button", { type: "button", onclick: () => act(`${at}/resume`) }, "Resume")] : []),
    ];
    const { epsilon: loss, delta = 0 } = account.loss_so_far;
    const belief = isNumber(loss) ? percent((1 + delta * Math.exp(-loss)) / (1 + Math.exp(-loss))) : "";
    const said = (name, text) => make("td", { class: "number", "data-name": name }, text);
    return make("tr", {}, make("td", {}, account.analyst ?? "all together (cap)"), said("spent", amount(account.spent)),
      said("left", amount(account.left)), said("a guess is right", belief),
      make("td", {}, account.suspended ? make("span", { class: "badge" }, "suspended") : ""), make("td", {}, make("span", { class: "row" }, ...buttons)));
  });
  const name = make("input", { id: "new-analyst", placeholder: "name", size: 12, "aria-label": "an analyst who has no account yet" });
  const total = make("input", { id: "new-limit", placeholder: "ε", size: 6, inputmode: "decimal", "aria-label": "limit of the new analyst" });
  const grant = (event) => {
    event.preventDefault();
    act(`/v1/accounts/${encodeURIComponent(name.value)}/grant`, { epsilon: Number(total.value) });
  };
  const added = make("form", { class: "row", onsubmit: grant }, "Somebody new:", name, total, make("button", { id: "new-grant", type: "submit" }, "Grant"));
  const heads = ["spent", "left", "a guess is right"].map((name) => make("th", { class: "number" }, name));
  find("accounts").replaceChildren(make("div", { class: "scroll" }, make("table", { class: "accounts" },
    make("thead", {}, make("tr", {}, make("th", {}, "analyst"), ...heads, make("th"), make("th"))), make("tbody", {}, ...rows))),
    added,
    make("p", { class: "small" }, "‘A guess is right’: how often somebody who saw all answers guesses at best whether one unit is in the data, where half is chance."));
}

function showPolicy(policy) {
  find("policy").replaceChildren(facts([["Protects", policy.distance], ["Answers leave", policy.answer_every ? `at multiples of ${policy.answer_every} s` : "as soon as they are there"]]),
    ...policy.tables.map((table) => make("details", {}, make("summary", {}, `${table.name} – ${table.private ? "private" : "public"}`),
      make("p", { class: "small" }, describeTable(table)),
      ...table.columns.map((column) => make("p", { class: "small" }, `${column.name}: ${describeColumn(column)}`)),
      ...(table.hidden.length ? [make("p", { class: "small" }, `hidden: ${table.hidden.join(", ")}`)] : []))));
}

find("explain").addEventListener("click", async () => {
  find("owner-error").textContent = "";
  try {
    const told = await call("POST", "/v1/explain", question());
    const numbers = (told.numbers ?? []).filter((number) => isNumber(number.exact)).slice(0, 60);
    const radius = (number) => (number.error && isNumber(number.error["95%"]) ? number.error["95%"] : null);
    const name = (number) => Object.values(number.group ?? {}).map(String).join(", ") || number.aggregate;
    find("explained").replaceChildren(
      ...(numbers.length ? [drawBars("exact answers, with the 95 % error of their noise", numbers.map(name), numbers.map((number) => number.exact), numbers.map(radius))] : []),
      make("details", {}, make("summary", {}, "everything"), make("pre", { class: "place" }, JSON.stringify(told, null, 2))));
  } catch (error) {
    find("owner-error").textContent = error.message;
  }
});

// -- begin ------------------------------------------------------------------------------------------------------------

try {
  await showConsole(await call("GET", "/me"));
} catch {
  showLogin();
}
