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
    more.hidden = false;
    fold(more, false);
    more.addEventListener("click", () => fold(more, more.getAttribute("aria-expanded") !== "true"));
  });

  // Filter.
  const form = document.getElementById("filter");
  const status = form.querySelector("[role=status]");
  const clear = form.querySelector("[type=reset]");
  const fields = all("[name]", form);
  const names = (element, key) => element.dataset[key].split(" ");
  const verdicts = all("tbody[data-outcome]").map((element) => ({ element, text: element.textContent.toLowerCase() }));
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
    all(".plot [data-learner]", element).forEach((mark) => {
      mark.classList.toggle("on", mark.dataset.learner === wanted.learner);
    });
  };

  const shownIn = (container, selector) => all(selector, container).some((element) => !element.hidden);
  const within = "tbody[data-outcome], article.experiment";

  const apply = () => {
    const wanted = values();
    const words = (wanted.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    const filtering = active(wanted).length > 0;
    verdicts.forEach((verdict) => { verdict.element.hidden = !isShown(verdict, wanted, words); });
    experiments.forEach((element) => showExperiment(element, wanted));
    all("table.verdicts").forEach((table) => { table.hidden = !shownIn(table, "tbody"); });
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
})();
