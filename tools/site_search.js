// Print the pages that the search of the site finds: node tools/site_search.js build/site QUERY...
// One line of JSON for each query: the paths of the pages, best first. It runs the theme's own search worker.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const workers = path.join(site, "assets", "javascripts", "workers");
const file = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search", "search_index.json")));

let handle;
let answered;
const scope = {
  addEventListener: (_, listener) => (handle = listener),
  postMessage: (message) => answered(message),
  console,
};
scope.self = scope;
vm.runInNewContext(fs.readFileSync(path.join(workers, file), "utf8"), scope);

const ask = (message) =>
  new Promise((resolve) => {
    answered = resolve;
    handle({ data: message });
  });

(async () => {
  await ask({ type: 0, data: { ...index, options: { suggest: false } } });
  for (const query of queries) {
    const found = await ask({ type: 2, data: query });
    console.log(JSON.stringify(found.data.items.map((page) => page[0].location.split("#")[0])));
  }
})();
