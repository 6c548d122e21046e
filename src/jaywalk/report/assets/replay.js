"use strict";
/* Replays: packed data are decoded when an episode is opened, then drawn on a canvas. */

const LIGHTS = ["#d92d20", "#f5a524", "#1e9e5a", "#555555", "#555555"];
const FILLS = { e: "#1d6fb8", w: "#e11d74", p: "#c98a2b" };
const maps = new Map();

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function summed(deltas, scale) {
  let at = 0;
  return deltas.map((d) => (at += d) / scale);
}

/* Flat [x, y, dx, dy, ...] as points in metres. */
function points(flat, scale) {
  const found = [];
  let x = 0, y = 0;
  for (let i = 0; i < flat.length; i += 2) {
    x += flat[i]; y += flat[i + 1];
    found.push([x / scale, y / scale]);
  }
  return found;
}

function trace(path, line, close) {
  line.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  if (close) path.closePath();
  return path;
}

function pathOf(lines, close) {
  const path = new Path2D();
  for (const line of lines) trace(path, points(line, 20), close);
  return path;
}

function loadMap(key) {
  if (!key) return Promise.resolve(null);
  if (!maps.has(key)) {
    maps.set(key, unpack(document.getElementById(key).textContent).then((m) => {
      const trees = new Path2D();
      for (const [x, y, r] of m.trees) { trees.moveTo((x + r) / 20, y / 20); trees.arc(x / 20, y / 20, r / 20, 0, 7); }
      return {
        surfaces: Object.entries(m.surfaces).map(([name, rings]) => [name, pathOf(rings, true)]),
        stripes: pathOf(m.stripes, true), lines: pathOf(m.lines), yellow: pathOf(m.yellow),
        blocks: pathOf(m.blocks, true), trees,
      };
    }));
  }
  return maps.get(key);
}

class Replay {
  constructor(player) {
    this.player = player;
    this.canvas = player.querySelector("canvas");
    this.card = player.closest("details");
    this.time = 0; this.rate = 1; this.zoom = 1; this.playing = false; this.last = 0;
  }

  async load() {
    const data = this.player.querySelector("script.data");
    const [episode, map] = await Promise.all([unpack(data.textContent), loadMap(this.player.dataset.map)]);
    this.map = map;
    this.t = episode.t;
    this.end = this.t[this.t.length - 1];
    this.bodies = episode.bodies.map((b) => ({
      kind: b.k, name: b.n, half: b.h.map((v) => v / 100), first: b.f, count: b.c,
      x: summed(b.x, 100), y: summed(b.y, 100), r: summed(b.r, 100),
    }));
    this.bodies.sort((a, b) => "pvew".indexOf(a.kind) - "pvew".indexOf(b.kind));
    this.ego = this.bodies.find((b) => b.kind === "e");
    this.lights = episode.lights;
    this.route = trace(new Path2D(), points(episode.route, 10));
    this.hits = episode.hits;
    this.series = episode.series;
    this.buildMarks(episode.marks);
    this.listen();
    const moment = parseFloat(this.player.dataset.moment);
    this.moment = Number.isFinite(moment) ? Math.min(moment, this.end) : 0;
    this.seek(Math.max(this.t[0], this.moment - 4));
  }

  buildMarks(marks) {
    const bar = this.player.querySelector(".marks-bar");
    for (const [time, words] of marks) {
      const mark = document.createElement("i");
      mark.style.left = (100 * (time - this.t[0])) / Math.max(this.end - this.t[0], 1e-6) + "%";
      mark.title = words;
      bar.append(mark);
    }
  }

  listen() {
    const find = (name) => this.player.querySelector(name);
    this.button = find(".play"); this.scrub = find(".scrub"); this.clock = find(".clock"); this.hud = find(".hud");
    this.playhead = this.card.querySelector(".series .playhead");
    this.button.onclick = () => this.toggle();
    this.scrub.oninput = () => { this.pause(); this.seek(this.t[0] + (this.scrub.value / 1000) * (this.end - this.t[0])); };
    find("select").onchange = (e) => { this.rate = parseFloat(e.target.value); };
    find(".zoom-in").onclick = () => this.zoomBy(1.25);
    find(".zoom-out").onclick = () => this.zoomBy(0.8);
    find(".to-moment").onclick = () => { this.pause(); this.seek(this.moment); };
    this.player.addEventListener("keydown", (e) => this.key(e));
    this.card.querySelectorAll(".seek").forEach((b) => { b.onclick = () => { this.pause(); this.seek(parseFloat(b.dataset.time)); }; });
    const chart = this.card.querySelector(".series svg");
    if (chart) chart.addEventListener("click", (e) => this.seekInChart(chart, e));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    new IntersectionObserver((seen) => { if (!seen[0].isIntersecting) this.pause(); }).observe(this.canvas);
    document.addEventListener("themechange", () => this.draw());
  }

  key(e) {
    if (e.target.tagName === "SELECT" || e.ctrlKey || e.metaKey || e.altKey) return;
    const onButton = e.target.tagName === "BUTTON";
    const step = e.shiftKey ? 1 : 0.1;
    const acts = {
      " ": () => this.toggle(), k: () => this.toggle(),
      ArrowLeft: () => { this.pause(); this.seek(this.time - step); },
      ArrowRight: () => { this.pause(); this.seek(this.time + step); },
      Home: () => this.seek(this.t[0]), End: () => this.seek(this.end),
      "+": () => this.zoomBy(1.25), "=": () => this.zoomBy(1.25), "-": () => this.zoomBy(0.8),
    };
    if (!acts[e.key] || (onButton && e.key === " ")) return;
    e.preventDefault();
    acts[e.key]();
  }

  seekInChart(chart, e) {
    const box = chart.getBoundingClientRect();
    const x = ((e.clientX - box.left) / box.width) * 380;
    this.pause();
    this.seek(this.t[0] + ((x - 34) / (380 - 34 - 8)) * (this.end - this.t[0]));
  }

  zoomBy(factor) { this.zoom = Math.min(4, Math.max(0.4, this.zoom * factor)); this.draw(); }
  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (this.time >= this.end - 1e-6) this.seek(this.t[0]);
    this.playing = true; this.last = 0;
    this.button.textContent = "❚❚"; this.button.setAttribute("aria-label", "Pause");
    requestAnimationFrame((now) => this.step(now));
  }

  pause() {
    this.playing = false;
    this.button.textContent = "▶"; this.button.setAttribute("aria-label", "Play");
  }

  step(now) {
    if (!this.playing) return;
    if (this.last) this.seek(this.time + (this.rate * Math.min(now - this.last, 200)) / 1000);
    this.last = now;
    if (this.time >= this.end - 1e-6) this.pause();
    else requestAnimationFrame((next) => this.step(next));
  }

  seek(time) {
    this.time = Math.min(this.end, Math.max(this.t[0], time));
    const share = (this.time - this.t[0]) / Math.max(this.end - this.t[0], 1e-6);
    this.scrub.value = Math.round(1000 * share);
    this.scrub.setAttribute("aria-valuetext", this.time.toFixed(1) + " seconds");
    this.clock.textContent = this.time.toFixed(1) + " s";
    if (this.playhead) {
      const x = 34 + share * (380 - 34 - 8);
      this.playhead.setAttribute("x1", x); this.playhead.setAttribute("x2", x);
      this.playhead.setAttribute("visibility", "visible");
    }
    this.draw();
  }

  /* Frame before the present time, and the share of the step that has passed. */
  place() {
    let low = 0, high = this.t.length - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if (this.t[mid] <= this.time + 1e-9) low = mid; else high = mid - 1; }
    const next = Math.min(low + 1, this.t.length - 1);
    const step = this.t[next] - this.t[low];
    return [low, step > 0 ? Math.min(1, (this.time - this.t[low]) / step) : 0];
  }

  pose(body, frame, share) {
    const i = frame - body.first;
    if (i < 0 || i >= body.count) return null;
    if (body.x.length === 1) return [body.x[0], body.y[0], body.r[0]];
    const j = Math.min(i + 1, body.count - 1);
    return ["x", "y", "r"].map((k) => body[k][i] + share * (body[k][j] - body[k][i]));
  }

  eye(frame, share) {
    if (this.ego) {
      const i = Math.min(Math.max(frame, this.ego.first), this.ego.first + this.ego.count - 1);
      return this.pose(this.ego, i, i === frame ? share : 0);
    }
    const seen = this.bodies.map((b) => this.pose(b, frame, share)).filter(Boolean);
    const middle = (k) => seen.map((p) => p[k]).sort((a, b) => a - b)[seen.length >> 1] || 0;
    return [middle(0), middle(1), 0];
  }

  draw() {
    const box = this.canvas.getBoundingClientRect();
    if (!this.t || !box.width) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.round(box.width * ratio), h = Math.round(box.height * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue("--" + name).trim();
    const g = this.canvas.getContext("2d");
    const [frame, share] = this.place();
    const [ex, ey] = this.eye(frame, share);
    const scale = (w / 64) * this.zoom;
    this.least = (4 * ratio) / scale;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = colour("land"); g.fillRect(0, 0, w, h);
    g.setTransform(scale, 0, 0, scale, w / 2 - ex * scale, h / 2 - ey * scale);
    this.drawGround(g, colour);
    g.setLineDash([0.01, 1]); g.lineCap = "round"; g.lineWidth = 0.3; g.strokeStyle = FILLS.e; g.globalAlpha = 0.7;
    g.stroke(this.route); g.setLineDash([]); g.globalAlpha = 1;
    this.drawLights(g, frame);
    for (const [f, x, y] of this.hits) if (f <= frame) burst(g, x / 100, y / 100, frame - f < 12 ? 2.2 : 1.1);
    for (const body of this.bodies) this.drawBody(g, body, frame, share, colour);
    this.tell(frame, share);
    this.bar(g, scale, w, h, ratio, colour);
  }

  drawGround(g, colour) {
    if (!this.map) return;
    for (const [name, path] of this.map.surfaces) { g.fillStyle = colour(name); g.fill(path, "evenodd"); }
    g.fillStyle = colour("paint"); g.fill(this.map.stripes);
    g.lineWidth = 0.14; g.lineCap = "butt";
    g.strokeStyle = colour("paint"); g.stroke(this.map.lines);
    g.strokeStyle = colour("yellow"); g.stroke(this.map.yellow);
    g.fillStyle = colour("block"); g.fill(this.map.blocks);
    g.strokeStyle = colour("block-edge"); g.lineWidth = 0.1; g.stroke(this.map.blocks);
    g.fillStyle = colour("tree"); g.fill(this.map.trees);
  }

  drawLights(g, frame) {
    g.lineWidth = 0.45; g.lineCap = "round";
    for (const light of this.lights) {
      let state = 4;
      for (const [from, value] of light.c) if (from <= frame) state = value;
      g.strokeStyle = LIGHTS[state];
      for (const [x, y, yaw, half] of light.s) {
        const dx = (-Math.sin(yaw / 100) * half) / 100, dy = (Math.cos(yaw / 100) * half) / 100;
        g.beginPath(); g.moveTo(x / 100 - dx, y / 100 - dy); g.lineTo(x / 100 + dx, y / 100 + dy); g.stroke();
      }
    }
  }

  drawBody(g, body, frame, share, colour) {
    const pose = this.pose(body, frame, share);
    if (!pose) return;
    const [hx, hy] = body.half;
    g.save();
    g.translate(pose[0], pose[1]); g.rotate(pose[2]);
    g.fillStyle = FILLS[body.kind] || colour("vehicle"); g.strokeStyle = colour("body-edge"); g.lineWidth = 0.12;
    g.beginPath();
    if (body.kind === "w" && hx === hy) {
      const r = Math.max(hx, 0.28, this.least);
      g.arc(0, 0, r, 0, 7); g.fill(); g.stroke();
      g.beginPath(); g.moveTo(0, 0); g.lineTo(r * 2.1, 0); g.lineWidth = 0.16; g.stroke();
    } else if (body.kind === "p") {
      g.rect(-hx, -hy, 2 * hx, 2 * hy); g.fill(); g.stroke();
    } else {
      for (const [x, y] of [[-1, -1], [0.72, -1], [1, -0.6], [1, 0.6], [0.72, 1], [-1, 1]]) g.lineTo(x * hx, y * hy);
      g.closePath(); g.fill(); g.stroke();
      g.beginPath(); g.moveTo(hx * 0.35, -hy * 0.8); g.lineTo(hx * 0.35, hy * 0.8); g.globalAlpha = 0.5; g.stroke();
      if (body.kind === "e" && this.series && (this.series.brake[frame] || 0) > 0.05) {
        g.globalAlpha = 1; g.fillStyle = "#ff3b30"; g.fillRect(-hx - 0.15, -hy, 0.45, hy * 0.6); g.fillRect(-hx - 0.15, hy * 0.4, 0.45, hy * 0.6);
      }
    }
    g.restore();
  }

  tell(frame) {
    if (!this.series) { this.hud.textContent = ""; return; }
    const s = this.series, words = [];
    if (s.speed_mps[frame] !== null) words.push(s.speed_mps[frame].toFixed(1) + " m/s");
    if (s.brake[frame] > 0.01) words.push("brake " + Math.round(100 * s.brake[frame]) + " %");
    if (s.gap_m[frame] !== null) words.push("gap " + s.gap_m[frame].toFixed(1) + " m");
    if (s.ttc_s[frame] !== null) words.push("TTC " + s.ttc_s[frame].toFixed(1) + " s");
    this.hud.textContent = words.join(" · ");
  }

  bar(g, scale, w, h, ratio, colour) {
    const metres = [50, 20, 10, 5, 2].find((m) => m * scale < w * 0.25) || 2;
    g.setTransform(1, 0, 0, 1, 0, 0);
    const x = w - 14 * ratio - metres * scale, y = h - 14 * ratio;
    g.strokeStyle = colour("ink"); g.lineWidth = 1.5 * ratio; g.beginPath();
    g.moveTo(x, y - 4 * ratio); g.lineTo(x, y); g.lineTo(x + metres * scale, y); g.lineTo(x + metres * scale, y - 4 * ratio); g.stroke();
    g.fillStyle = colour("ink"); g.font = 12 * ratio + "px system-ui, sans-serif"; g.textAlign = "center";
    g.fillText(metres + " m", x + (metres * scale) / 2, y - 6 * ratio);
  }
}

function burst(g, x, y, size) {
  g.beginPath();
  for (let i = 0; i < 16; i++) {
    const r = i % 2 ? size * 0.45 : size, a = (i * Math.PI) / 8;
    g.lineTo(x + r * Math.cos(a), y + r * Math.sin(a));
  }
  g.closePath();
  g.fillStyle = "#ffd43bcc"; g.fill(); g.strokeStyle = "#b3261e"; g.lineWidth = 0.12; g.stroke();
}
