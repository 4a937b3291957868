// The core is fetched once the page stands, or as soon as something is asked.
(() => {
  'use strict';
  let core;
  window.memwall = () => core ||= (async () => {
    const go = new Go();
    const packed = await fetch('./memwall.wasm.gz');
    if (!packed.ok) throw new Error(packed.statusText);
    const program = new Response(packed.body.pipeThrough(new DecompressionStream('gzip')), { headers: { 'Content-Type': 'application/wasm' } });
    const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
    go.run(instance);
    return window.memwallPage;
  })();
  addEventListener('load', () => setTimeout(window.memwall, 50));
})();
