// Live explain: while a question is written, the server says what it would cost. Nothing is spent, and nothing is kept.
// Without this script the button "What would it cost?" does the same.
"use strict";

const form = document.querySelector("form[data-explain]");
const DEBOUNCE = 450;

if (form) {
  const question = form.querySelector("textarea.sql");
  const under = form.querySelector(".under");
  const shown = document.getElementById("explained");
  const status = document.getElementById("explained-status");
  let waiting = 0;
  let running = null;

  // Marks what is refused, behind the text. Places count letters as Python does: Array.from does so too.
  function mark(places) {
    const letters = Array.from(question.value);
    under.replaceChildren();
    let before = 0;
    for (const [start, end] of places) {
      if (start < before || end > letters.length) continue;
      under.append(letters.slice(before, start).join(""));
      const part = document.createElement("mark");
      part.textContent = letters.slice(start, end).join("");
      under.append(part);
      before = end;
    }
    under.append(letters.slice(before).join("") + "\n");
    under.scrollTop = question.scrollTop;
  }

  function invalid(fields) {
    for (const input of form.elements) {
      if (input.name && input.getAttribute("aria-invalid") === "true" && !fields.includes(input.name)) {
        input.removeAttribute("aria-invalid");
      }
      if (input.name && fields.includes(input.name)) {
        input.setAttribute("aria-invalid", "true");
        const around = input.closest("details");
        if (around) around.open = true;
      }
    }
  }

  async function explain() {
    if (!question.value.trim()) return;
    if (running) running.abort();
    const own = (running = new AbortController());
    shown.classList.add("waiting");
    try {
      const reply = await fetch(form.dataset.explain, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        credentials: "same-origin",
        signal: own.signal,
        headers: { Accept: "text/html" },
      });
      if (reply.redirected || !(reply.headers.get("content-type") || "").startsWith("text/html")) throw new Error("away");
      const text = await reply.text();
      if (running !== own) return;
      shown.innerHTML = text;
      const said = shown.firstElementChild;
      mark(JSON.parse((said && said.dataset.marks) || "[]"));
      invalid(JSON.parse((said && said.dataset.fields) || "[]"));
      status.textContent = (said && said.dataset.summary) || "";
    } catch (fault) {
      if (fault.name === "AbortError") return;
      status.textContent = "The price cannot be shown now. Try the button “What would it cost?”.";
    } finally {
      if (running === own) shown.classList.remove("waiting");
    }
  }

  function soon() {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(explain, DEBOUNCE);
  }

  form.addEventListener("input", (event) => {
    if (event.target === question) mark([]);
    if (event.target.type !== "range") soon();
  });
  form.addEventListener("change", soon);
  question.addEventListener("scroll", () => (under.scrollTop = question.scrollTop));
  new ResizeObserver(() => mark(places())).observe(question);

  function places() {
    const said = shown.firstElementChild;
    return said && said.dataset.marks ? JSON.parse(said.dataset.marks) : [];
  }

  // Ctrl+Enter asks what it would cost; nothing is ever paid by a shortcut.
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      explain();
    }
  });

  for (const radio of form.querySelectorAll("input[name=by]")) {
    radio.addEventListener("change", () => {
      for (const part of form.querySelectorAll("[data-by]")) part.hidden = part.dataset.by !== radio.value;
    });
    if (radio.checked) {
      for (const part of form.querySelectorAll("[data-by]")) part.hidden = part.dataset.by !== radio.value;
    }
  }
  mark(places());
}

// Sliders move in steps of one size on a logarithmic scale, and write into the number beside them, which is what is sent.
for (const slider of document.querySelectorAll("input[type=range][data-of]")) {
  const number = document.getElementById(slider.dataset.of);
  const low = Math.log(Number(slider.dataset.least));
  const high = Math.log(Number(slider.dataset.most));
  const place = () => {
    const value = Number(number.value);
    if (value > 0) slider.value = String(Math.round((1000 * (Math.log(value) - low)) / (high - low)));
    slider.setAttribute("aria-valuetext", number.value || "nothing yet");
  };
  slider.addEventListener("input", () => {
    const value = Math.exp(low + ((high - low) * Number(slider.value)) / 1000);
    number.value = String(Number(value.toPrecision(2)));
    slider.setAttribute("aria-valuetext", number.value);
    number.dispatchEvent(new Event("input", { bubbles: true }));
  });
  number.addEventListener("input", (event) => event.isTrusted && place());
  place();
}
