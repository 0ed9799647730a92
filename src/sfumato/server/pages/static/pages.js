// Light and dark without a new page; forms that ask before they do what cannot be undone; copies of secrets.
"use strict";

function themeSwitch(form) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || !window.fetch) return;
    event.preventDefault();
    const theme = button.value;
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    for (const one of form.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === button));
    const said = new URLSearchParams(new FormData(form));
    said.set("theme", theme);
    fetch(form.action, { method: "POST", body: said, credentials: "same-origin", redirect: "manual" }).catch(() => {});
  });
}

for (const form of document.querySelectorAll("form.theme")) themeSwitch(form);

for (const form of document.querySelectorAll("form[data-sure]")) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.dataset.sure)) event.preventDefault();
  });
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copies).textContent.trim();
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(document.getElementById(button.dataset.copies));
    }
  });
}

for (const again of document.querySelectorAll("input[name=again]")) {
  const first = again.form.elements.password;
  const compare = () => again.setCustomValidity(again.value === first.value ? "" : "The two passwords differ.");
  again.addEventListener("input", compare);
  first.addEventListener("input", compare);
}
