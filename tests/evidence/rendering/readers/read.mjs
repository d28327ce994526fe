// Lets har-validator, ajv, Playwright and Chromium read the reports in a folder; prints what they found, as JSON.
// node read.mjs NODE_MODULES FOLDER
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, folder] = process.argv.slice(2);
const require = createRequire(join(modules, "here.js"));
const { har } = require("har-validator");
const Ajv = require("ajv");
const { chromium } = require("playwright-core");

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const parsed = (path) => JSON.parse(readFileSync(path, "utf8"));
const file = (name) => join(folder, name);

const validHar = (name) => har(parsed(file(name))).then(() => [], (error) => error.errors.map((one) => one.message));

function validSarif(names) {
  const schema = parsed(join(modules, "@microsoft/sarif-multitool-linux/sarif-2.1.0.json"));
  delete schema.$schema; // ajv 6 knows the words of it, not its name
  const check = new Ajv({ meta: false, validateSchema: false, unknownFormats: "ignore" }).compile(schema);
  return Object.fromEntries(names.map((name) => [name, check(parsed(file(name))) ? [] : check.errors.map((one) => one.message)]));
}

async function replayed(browser) {
  const page = await browser.newPage();
  await page.routeFromHAR(file("good.har"), { notFound: "abort" });
  const answer = await page.goto("http://127.0.0.1:8000/stats?a=1&b=%20");
  const known = { status: answer.status(), body: await answer.text() };
  const unknown = await page.goto("http://127.0.0.1:8000/never").then(() => "answered", (error) => error.message);
  await page.close();
  return { known, unknown };
}

async function opened(browser, name, colorScheme) {
  const page = await browser.newPage({ colorScheme });
  const seen = { requests: [], said: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => seen.said.push(message.text()));
  page.on("pageerror", (error) => seen.said.push(error.message));
  page.on("dialog", (dialog) => { seen.said.push(dialog.message()); dialog.dismiss(); });
  await page.goto(pathToFileURL(file(name)).href, { waitUntil: "networkidle" });
  const found = await page.evaluate(() => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    return {
      text: document.body.innerText,
      background: getComputedStyle(document.body).backgroundColor,
      active: document.querySelectorAll("script, img, iframe, object, embed, form").length,
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
  });
  await page.screenshot({ path: file(`${name}-${colorScheme}.png`), fullPage: true });
  await page.close();
  return { ...seen, ...found };
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS, headless: true });
const pages = {};
for (const name of ["good.html", "bad.html"]) {
  for (const scheme of ["light", "dark"]) pages[`${name} ${scheme}`] = await opened(browser, name, scheme);
}
const found = {
  har: { good: await validHar("good.har"), bad: await validHar("bad.har"), damaged: await validHar("damaged.har") },
  sarif: validSarif(["good.sarif", "bad.sarif", "damaged.sarif"]),
  replayed: await replayed(browser),
  pages,
};
await browser.close();
process.stdout.write(JSON.stringify(found));
