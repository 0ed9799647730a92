// Says that scripts run, before anything is drawn: what only works with them is shown, and what stands in for them hidden.
document.documentElement.classList.add("js");
