// Looks at report pages in a browser: node browser.cjs MODULES CHROMIUM JOBS.json SHOTS
// JOBS.json lists {name, file, layers, audited}; prints one line of JSON for each page: {name, faults, seconds}.
"use strict";
const fs = require("fs");
const path = require("path");
const [, , modules, executablePath, jobs, shots] = process.argv;
const { chromium } = require(path.join(modules, "playwright-core"));
const axe = fs.readFileSync(path.join(modules, "axe-core", "axe.min.js"), "utf8");
const SERIOUS = new Set(["serious", "critical"]);
const LOOKS = [["light", 1280, true], ["dark", 1280, true], ["light", 1680], ["light", 390, true], ["dark", 390]];

async function looked(page, job, faults) {
  const url = "file://" + job.file;
  for (const [colorScheme, width, audited] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(url);
    if (shots) await page.screenshot({ path: path.join(shots, `${job.name}-${colorScheme}-${width}.png`), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) faults.push(`${wide} pixels wide on ${width}`);
    faults.push(...(await page.evaluate(headers, width)));
    if (!audited || !job.audited) continue;
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run());
    for (const v of found.violations) {
      if (SERIOUS.has(v.impact)) faults.push(`axe, ${colorScheme} ${width}: ${v.id}: ${v.nodes[0].html.slice(0, 160)}`);
    }
  }
}

// Faults of tables as they are seen: a header that is cut without a mark that its table scrolls, rows of layers that
// take more than a line, and a time of layers that is out of sight.
function headers(width) {
  const faults = [];
  for (const head of document.querySelectorAll("th")) {
    const scroll = head.closest(".scroll"), box = head.getBoundingClientRect();
    const cut = box.right > (scroll ? scroll.getBoundingClientRect().right : width) + 1 || head.scrollWidth > head.clientWidth + 1;
    const where = `${head.textContent.trim()}, ${width} pixels`;
    if (cut && !(scroll && getComputedStyle(scroll, "::before").content.includes("scrolls"))) faults.push(`header cut without a mark: ${where}`);
    if (cut && head.closest("table.layers") && width >= 1280) faults.push(`header of layers out of sight: ${where}`);
    if (cut && head.textContent === "ms" && head.closest("table.layers")) faults.push(`time out of sight: ${where}`);
  }
  const high = [...document.querySelectorAll("table.layers tbody tr")].filter((row) => row.getBoundingClientRect().height > 32);
  if (high.length) faults.push(`${high.length} rows of layers take several lines, ${width} pixels`);
  return faults;
}

async function numbers(page, job, faults) {
  const shown = await page.evaluate(() => {
    const own = /^(#|layer|operator|ms|share, %|kernel)$/;
    const heads = [...document.querySelectorAll("table.layers th")].map((head) => !own.test(head.textContent));
    return [...document.querySelectorAll("table.layers tbody tr")].map((row) =>
      [...row.cells].filter((cell, k) => heads[k]).map((cell) => cell.textContent));
  });
  if (shown.length !== job.layers.length) faults.push(`${shown.length} rows for ${job.layers.length} layers`);
  shown.forEach((cells, k) => {
    const values = cells.map((text) => Number(text.replace(/,/g, "")));
    if (JSON.stringify(values) !== JSON.stringify(job.layers[k])) faults.push(`layer ${k}: ${values} for ${job.layers[k]}`);
  });
}

async function works(page, job, faults) {
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.goto("file://" + job.file);
  const heads = page.locator("table.layers th button");
  const k = (await heads.allTextContents()).indexOf("MAC");
  await heads.nth(k).click();
  const first = await page.locator("table.layers tbody tr").first().locator("td").nth(k).textContent();
  if (Number(first.replace(/,/g, "")) !== Math.max(...job.layers.map((layer) => layer[0]))) faults.push(`sorted by MAC, ${first} is first`);
  const row = page.locator("table.layers tbody tr").first();
  await row.hover();
  const slugs = (await row.getAttribute("data-b")).split(" ").filter((slug) => slug.length > 2);
  for (const slug of slugs) {
    const on = await page.locator(`svg.map [data-s="${slug}"].on`).count();
    if (!on) faults.push(`a row under the pointer does not mark ${slug}`);
  }
  const last = job.layers.length - 1;
  await page.locator(`nav.strip a[data-l="${last}"]`).evaluate((a) => a.click());
  if (!(await lands(page, last))) faults.push(`a click does not lead to layer ${last}`);
  await page.goto("about:blank");
  await page.goto(`file://${job.file}#layer-${last}`);
  if (!(await lands(page, last))) faults.push(`#layer-${last} does not land`);
  const times = page.locator("p.by button");
  if (await times.count()) {
    const before = await page.locator("svg.map rect.b").first().getAttribute("width");
    await times.nth(1).click();
    const rect = page.locator("svg.map rect.b").first();
    if ((await rect.getAttribute("width")) !== (await rect.getAttribute("data-w"))) faults.push("by time, widths stay");
    await times.nth(0).click();
    if ((await rect.getAttribute("width")) !== before) faults.push("by events again, widths differ");
  }
}

async function lands(page, layer) {
  return page.evaluate((k) => {
    const box = document.getElementById(`layer-${k}`).getBoundingClientRect();
    return location.hash === `#layer-${k}` && box.bottom > 0 && box.top < innerHeight;
  }, layer);
}

// Processor seconds that a page takes to load (its main thread alone, so that other work on the machine does not count):
// the least of three times. Each time in a context of its own, so that nothing is kept from the time before.
async function loaded(browser, file) {
  const times = [];
  for (let k = 0; k < 3; k += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto("file://" + file);
    const { metrics } = await session.send("Performance.getMetrics");
    times.push(metrics.find((metric) => metric.name === "TaskDuration").value);
    await context.close();
  }
  return Math.min(...times);
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  for (const job of JSON.parse(fs.readFileSync(jobs, "utf8"))) {
    const faults = [];
    const page = await browser.newPage();
    page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("request", (request) => /^(file|about):/.test(request.url()) || faults.push(`request: ${request.url()}`));
    const seconds = await loaded(browser, job.file);
    await page.goto("file://" + job.file);
    await numbers(page, job, faults);
    await looked(page, job, faults);
    await works(page, job, faults);
    console.log(JSON.stringify({ name: job.name, seconds, faults }));
    await page.close();
  }
  await browser.close();
}

main().catch((error) => { console.error(error); process.exit(1); });
