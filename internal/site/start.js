// The core is fetched once the page stands, or as soon as something is asked, and answers in a worker: the page stays
// responsive, and a search ends with its worker.
(() => {
  'use strict';
  let core, worker, last = 0;
  const waiting = new Map();
  const compiled = async () => {
    const packed = await fetch('./memwall.wasm.gz');
    if (!packed.ok) throw new Error(packed.statusText);
    const program = new Response(packed.body.pipeThrough(new DecompressionStream('gzip')), { headers: { 'Content-Type': 'application/wasm' } });
    return WebAssembly.compileStreaming(program);
  };
  // a worker that fails has not answered what it was asked: its questions fail, and the next has another worker
  const lost = why => {
    for (const w of waiting.values()) w.fail(new Error(why));
    waiting.clear();
    worker.terminate();
    worker = null;
  };
  const hire = module => {
    worker = new Worker('./core.js');
    worker.onmessage = ({ data }) => {
      if (data.failed) return lost(data.failed);
      waiting.get(data.id)?.done(data.html);
      waiting.delete(data.id);
    };
    worker.onerror = e => lost(e.message);
    worker.postMessage({ module });
  };
  // a fetch that failed is tried again when something is asked
  const ready = () => core ||= compiled().then(module => { hire(module); return module; }, e => { core = null; throw e; });
  window.memwall = async (url, pasted, signal, file) => {
    const module = await ready(), id = ++last;
    signal?.throwIfAborted();
    if (!worker) hire(module);
    return new Promise((done, fail) => {
      waiting.set(id, { done, fail });
      signal?.addEventListener('abort', () => {
        if (!waiting.delete(id)) return;
        worker.terminate();
        hire(module);
        fail(signal.reason);
      });
      worker.postMessage({ id, url, pasted, file });
    });
  };
  addEventListener('load', () => setTimeout(() => ready().catch(() => {}), 50));
})();
