import type { Answer, Request } from "./types.js";
export type * from "./types.js";

/** A request's fields; `on` is short for `hardware`. */
export type Fields = Partial<Omit<Request, "ask" | "model">> & { on?: string };
export class MemwallError extends Error {
  code: string;
  field?: string;
  value?: string;
  hint?: string;
}
/** The core, which answers where it runs. A search takes as long as it takes: in a browser it belongs in a worker. */
export interface Memwall {
  ask(request: Partial<Request>): Answer;
  /** The picture of a request's answer. */
  svg(request: Partial<Request> & { on?: string }): string;
  fit(model: string, fields?: Fields): Answer;
  plan(model: string, fields?: Fields): Answer;
  train(model: string, fields?: Fields): Answer;
  sim(model: string, fields?: Fields): Answer;
  pick(fields: Fields): Answer;
  diagnose(text: string, fields?: Fields): Answer;
}
/** Starts the core that comes with the package, or the one at an address, or of these bytes. */
export function load(source?: string | URL | ArrayBuffer | ArrayBufferView): Promise<Memwall>;
