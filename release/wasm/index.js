import "./wasm_exec.js";

/** A question that has no answer: code, field, value, message and hint as the contract names them. */
export class MemwallError extends Error {
  constructor(error) {
    super(error.hint ? `${error.message} (${error.hint})` : error.message);
    this.name = "MemwallError";
    Object.assign(this, { code: error.code, field: error.field, value: error.value, hint: error.hint });
  }
}

// The core comes from beside this file, or from where its host keeps it: an address, or its bytes.
async function packed(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return new Blob([source]).stream();
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return new Blob([await readFile(url)]).stream();
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`memwall: ${url} cannot be fetched: ${response.status} ${response.statusText}`);
  return response.body;
}

const on = ({ on: hardware, ...fields }) => (hardware === undefined ? fields : { hardware, ...fields });

/** Starts the core; what it gives answers questions where it runs, and sends nothing anywhere. */
export async function load(source = "./memwall.wasm.gz") {
  const bytes = await new Response((await packed(source)).pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const go = new globalThis.Go();
  go.run((await WebAssembly.instantiate(bytes, go.importObject)).instance); // until the page or the program ends
  const answered = globalThis.memwallAnswer;
  const read = (request, picture) => {
    const answer = JSON.parse(answered(JSON.stringify(request), picture));
    if (answer.error) throw new MemwallError(answer.error);
    return answer;
  };
  const ask = (request) => read(request, false);
  const about = (name) => (model, fields = {}) => ask({ ask: name, model, ...on(fields) });
  return {
    ask,
    svg: (request) => read(on(request), true).svg,
    fit: about("fit"), plan: about("plan"), train: about("train"), sim: about("sim"),
    pick: (fields) => ask({ ask: "pick", ...on(fields) }),
    diagnose: (text, fields = {}) => ask({ ask: "diagnose", text, ...on(fields) }),
  };
}
