// The core in a worker: a compiled module comes first, then addresses, each answered with its page.
(() => {
  'use strict';
  let core;
  const start = async module => {
    const go = new Go();
    go.run(await WebAssembly.instantiate(module, go.importObject));
  };
  onmessage = async ({ data }) => {
    if (data.module) core = start(data.module);
    if (!data.id) return;
    try {
      await core;
      postMessage({ id: data.id, html: self.memwallPage(data.url, data.pasted, data.file) });
    } catch (e) {
      postMessage({ failed: String(e) });
    }
  };
})();
