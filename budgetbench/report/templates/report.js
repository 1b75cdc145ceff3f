(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // Theme: the reader's system decides until the button is used. The page's head sets what was chosen before.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const showTheme = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("budgetbench-theme", root.dataset.theme); } catch { /* no storage for this page */ }
    showTheme();
  });
  system.addEventListener("change", showTheme);
  button.hidden = false;
  showTheme();

  // Evidence: open without scripts, folded with them.
  const fold = (more, open) => {
    more.setAttribute("aria-expanded", String(open));
    document.getElementById(more.getAttribute("aria-controls")).hidden = !open;
  };
  all(".more").forEach((more) => {
    fold(more, false);
    more.addEventListener("click", () => fold(more, more.getAttribute("aria-expanded") !== "true"));
  });

  // Filter.
  const form = document.getElementById("filter");
  const status = form.querySelector("[role=status]");
  const clear = form.querySelector("[type=reset]");
  const fields = all("[name]", form);
  const names = (element, key) => element.dataset[key].split(" ");
  // A verdict is a number's rows, or one cell of a claim's row with the evidence that it opens.
  const evidenceOf = (cell) => document.getElementById(`${cell.id}-more`);
  const textOf = (element) => element.matches(".cell")
    ? [element.closest("tr").cells[0], element, evidenceOf(element)].map((part) => part.textContent).join(" ")
    : element.textContent;
  const verdicts = all("[data-outcome]").map((element) => ({ element, text: textOf(element).toLowerCase() }));
  const experiments = all("article.experiment");
  const values = () => Object.fromEntries(fields.map((field) => [field.name, field.value.trim()]));
  const active = (wanted) => fields.filter((field) => wanted[field.name]);

  const aboutBoth = (element, wanted) =>
    (!wanted.learner || names(element, "learners").includes(wanted.learner)) &&
    (!wanted.dataset || names(element, "datasets").includes(wanted.dataset));

  const isShown = ({ element, text }, wanted, words) =>
    aboutBoth(element, wanted) &&
    (!wanted.outcome || element.dataset.outcome === wanted.outcome) &&
    words.every((word) => text.includes(word));

  const showExperiment = (element, wanted) => {
    element.hidden = !aboutBoth(element, wanted);
    all("tr[data-learner]", element).forEach((row) => {
      row.hidden = Boolean(wanted.learner) && row.dataset.learner !== wanted.learner;
    });
    all("tr.heading", element).forEach((heading) => {
      heading.hidden = all("tr[data-learner]:not([hidden])", heading.parentElement).length === 0;
    });
  };

  const shownIn = (container, selector) => all(selector, container).some((element) => !element.hidden);
  const within = "[data-outcome], article.experiment";

  const showVerdict = (element, shown) => {
    element.hidden = !shown;
    if (element.matches(".cell") && !shown) fold(element.querySelector(".more"), false);
  };

  const apply = () => {
    const wanted = values();
    const words = (wanted.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    const filtering = active(wanted).length > 0;
    verdicts.forEach((verdict) => showVerdict(verdict.element, isShown(verdict, wanted, words)));
    all("table.claims > tbody").forEach((claim) => { claim.hidden = !shownIn(claim, ".cell"); });
    experiments.forEach((element) => showExperiment(element, wanted));
    all(".plot [data-learner]").forEach((mark) => {
      mark.classList.toggle("on", mark.dataset.learner === wanted.learner);
    });
    all("table.verdicts, table.claims").forEach((table) => { table.hidden = !shownIn(table, "[data-outcome]"); });
    all(".item, .block").forEach((part) => { part.hidden = !shownIn(part, within); });
    all("details.waiting").forEach((part) => { if (filtering) part.open = true; });
    all(".paper").forEach((part) => { part.querySelector(".nothing").hidden = shownIn(part, within); });
    root.classList.toggle("filtered", Boolean(wanted.learner));
    clear.disabled = !filtering;
    const count = (shown, total, noun) => `${shown} of ${total} ${noun}${total === 1 ? "" : "s"}`;
    const parts = [];
    if (verdicts.length) parts.push(count(verdicts.filter(({ element }) => !element.hidden).length, verdicts.length, "verdict"));
    parts.push(count(experiments.filter((element) => !element.hidden).length, experiments.length, "experiment"));
    status.textContent = `Shown: ${parts.join(", ")}.`;
  };

  const write = () => {
    const wanted = values();
    const query = new URLSearchParams(active(wanted).map((field) => [field.name, wanted[field.name]])).toString();
    if (query || location.hash.includes("=")) history.replaceState(null, "", query ? `#${query}` : location.pathname + location.search);
  };

  const read = () => {
    if (!location.hash.includes("=") && location.hash.length > 1) return;
    const query = new URLSearchParams(location.hash.slice(1));
    fields.forEach((field) => {
      field.value = query.get(field.name) || "";
      if (field.selectedIndex === -1) field.value = "";
    });
    apply();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { apply(); write(); });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    fields.forEach((field) => { field.value = ""; });
    apply();
    write();
    fields[0].focus();
  });
  addEventListener("hashchange", read);

  // A link to what the filter hides, or that would take the filter's place in the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!target || !active(values()).length) return;
    event.preventDefault();
    if (target.closest("[hidden]")) clear.click();
    target.scrollIntoView();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  });

  form.hidden = false;
  apply();
  read();

  // Tables: a click on a heading sorts by its column, up, down, and back; rows stay in their group.
  const figureOf = (text) => parseFloat(text.replace(/\u2212/g, "-").replace(/[\s\u2009]/g, ""));
  const compared = (a, b, sign) => {
    const [x, y] = [a, b].map(figureOf);
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1; // what has no value comes last
    return sign * (Number.isNaN(x) ? a.localeCompare(b) : x - y);
  };
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const sortBy = (table, header) => {
    const order = NEXT[header.ariaSort || "none"];
    all("thead th", table).forEach((other) => { other.ariaSort = other === header ? order : "none"; });
    table.classList.toggle("sorted", order !== "none");
    const sign = order === "descending" ? -1 : 1;
    Array.from(table.tBodies).forEach((body) => {
      const rows = Array.from(body.rows).filter((row) => !row.matches(".heading"));
      rows.forEach((row, place) => { row.dataset.place ??= place; });
      const key = (row) => row.cells[header.cellIndex].textContent;
      rows.sort((a, b) => (order === "none" ? 0 : compared(key(a), key(b), sign)) || a.dataset.place - b.dataset.place);
      body.append(...rows);
    });
  };
  const sortable = (table) => all("thead th", table).forEach((header) => {
    const control = document.createElement("button");
    control.type = "button";
    control.className = "sort";
    control.append(...header.childNodes);
    header.append(control);
    header.ariaSort = "none";
    control.addEventListener("click", () => sortBy(table, header));
  });
  all("table.numbers, table.counts").forEach(sortable);

  // Elements made of their name, attributes and what is in them.
  const made = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...inside.filter((part) => part !== null && part !== undefined));
    return element;
  };

  // Runs: listed when they are asked for, each opening where it comes from.
  const number = (value) => (value === null || value === undefined ? "" : String(value).replace("-", "\u2212"));
  const detailsOf = (data, set, values) => {
    const told = Object.entries(set.params).map(([name, value]) => [name, JSON.stringify(value).replace(/"/g, "")]);
    const rest = Object.keys(data.words).filter((name) => values[name] !== null && values[name] !== undefined)
      .map((name) => [data.words[name], number(values[name])]);
    const list = (title, rows) => made("div", {}, made("p", { class: "term" }, title), made("dl", {},
      ...rows.flatMap(([name, value]) => [made("dt", {}, name), made("dd", {}, value)])));
    return made("div", { class: "run" }, list("Configuration", [["name", set.learner], ...told]), list("Run", rest));
  };
  const PAGE = 200;
  const listRuns = (place) => {
    const data = JSON.parse(place.querySelector("script").textContent);
    const told = new Map(data.rows.map((row) => [row,
      { ...data.same, ...Object.fromEntries(data.columns.map((name, at) => [name, row[at + 2]])) }]));
    const heads = ["Learner", "Parameters", "Run", ...data.shown.map((name) => data.words[name])];
    const body = made("tbody");
    const table = made("table", { class: "numbers" }, made("caption", { class: "hidden" }, `Runs of ${data.experiment}`),
      made("thead", {}, made("tr", {}, ...heads.map((head, at) => made("th", { scope: "col", class: at > 1 ? "n" : "" }, head)))), body);
    const rowOf = (row) => {
      const [set, values] = [data.sets[row[0]], told.get(row)];
      const open = made("button", { type: "button", class: "more", "aria-expanded": "false" }, set.title);
      const line = made("tr", { "data-learner": set.learner }, made("th", { scope: "row" }, open),
        made("td", {}, values.status === "failed" ? `failed: ${values.error}` : set.text), made("td", { class: "n" }, String(row[1])),
        ...data.shown.map((name) => made("td", { class: "n" }, number(values[name]))));
      let opened = null;
      open.addEventListener("click", () => {
        open.ariaExpanded = String(!opened);
        if (opened) { opened.remove(); opened = null; return; }
        opened = made("tr", { class: "opened" }, made("td", { colspan: String(heads.length) }, detailsOf(data, set, values)));
        line.after(opened);
      });
      return line;
    };
    const more = made("button", { type: "button" });
    const show = (limit) => {
      body.append(...data.rows.slice(body.rows.length, limit).map(rowOf));
      more.textContent = `All ${data.rows.length} runs`;
      more.hidden = data.rows.length <= limit;
    };
    const closeAll = () => all(".more[aria-expanded=true]", body).forEach((open) => open.click());
    more.addEventListener("click", () => { closeAll(); show(data.rows.length); });
    show(PAGE);
    place.querySelector(".nothing").replaceWith(
      made("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Runs of ${data.experiment}` }, table), more);
    table.addEventListener("click", (event) => { if (event.target.closest(".sort")) { closeAll(); if (!more.hidden) more.click(); } }, true);
    sortable(table);
  };
  all("details.runs").forEach((place) => place.addEventListener("toggle", () => {
    if (place.open && place.querySelector(":scope > .nothing")) { listRuns(place); apply(); }
  }));

  // Figures: large, in a window of their own, where each series can be left out.
  const seriesOf = (plot) => [...new Set(all("[data-series]", plot).map((mark) => mark.dataset.series))];
  const enlarge = (figure) => {
    const plot = figure.querySelector(".plot").cloneNode(true);
    all("[id]", plot).forEach((element) => element.removeAttribute("id"));
    const choices = seriesOf(plot).map((series) => {
      const box = made("input", { type: "checkbox", checked: "" });
      box.addEventListener("change", () => all("[data-series]", plot)
        .filter((mark) => mark.dataset.series === series).forEach((mark) => mark.classList.toggle("out", !box.checked)));
      return made("label", {}, box, ` ${series}`);
    });
    const close = made("button", { type: "button", class: "close" }, "Close");
    const caption = figure.querySelector("figcaption").firstChild.textContent.trim();
    const large = made("dialog", { class: "large", "aria-label": caption }, close, plot, made("p", {}, caption),
      choices.length > 1 ? made("fieldset", {}, made("legend", {}, "Series"), ...choices) : null);
    close.addEventListener("click", () => large.close());
    large.addEventListener("close", () => large.remove());
    large.addEventListener("click", (event) => { if (event.target === large) large.close(); });
    document.body.append(large);
    large.showModal();
  };
  all(".enlarge").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => enlarge(button.closest("figure")));
  });
})();
