/* The page: opens episodes, filters them, saves drawings, switches the theme. */

function openEpisode(card) {
  const player = card.querySelector(".player");
  if (!player || player.replay) return;
  player.replay = new Replay(player);
  player.replay.load().catch((problem) => {
    player.querySelector(".hud").textContent = "The replay cannot be shown: " + problem.message;
  });
}

document.querySelectorAll("details.episode").forEach((card) => {
  card.addEventListener("toggle", () => {
    if (card.open) openEpisode(card);
    else if (card.querySelector(".player") && card.querySelector(".player").replay) card.querySelector(".player").replay.pause();
  });
  if (card.open) openEpisode(card);
});

/* A link to an episode opens it. */
function follow() {
  const card = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (card && card.tagName === "DETAILS") {
    card.hidden = false;
    card.open = true;
    card.scrollIntoView();
    card.querySelector("summary").focus({ preventScroll: true });
  }
}
window.addEventListener("hashchange", follow);
follow();

document.querySelectorAll(".filters button").forEach((button) => {
  button.onclick = () => {
    document.querySelectorAll(".filters button").forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
    const wanted = button.dataset.filter;
    document.querySelectorAll("details.episode").forEach((card) => {
      card.hidden = !(wanted === "all" || (wanted === "failed" && card.dataset.failed === "1") || wanted === "run-" + card.dataset.run);
    });
  };
});

/* Drawings carry their own colours, so that a copy stands alone. */
document.querySelectorAll(".save").forEach((button) => {
  button.onclick = () => {
    const drawing = button.parentElement.querySelector("svg").cloneNode(true);
    drawing.querySelectorAll(".playhead").forEach((line) => line.remove());
    const text = new XMLSerializer().serializeToString(drawing);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = button.dataset.name.replace(/[^\w.-]+/g, "_") + ".svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
});

document.getElementById("theme").onclick = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.dispatchEvent(new Event("themechange"));
};
if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
  document.querySelectorAll(".clip svg").forEach((svg) => svg.pauseAnimations());
}
