/** A request's fields as `memwall schema request` describes them; `on` is short for `hardware`. */
export type Fields = { on?: string; hardware?: string; [field: string]: unknown };
/** An answer as `memwall schema answer` describes it. */
export type Answer = { schema: "memwall/1"; ask: string; verdict?: "fits" | "tight" | "does_not_fit" | "unknown"; [field: string]: any };
export class MemwallError extends Error {
  code: string;
  field?: string;
  value?: string;
  hint?: string;
}
export function ask(request: { ask: string; [field: string]: unknown }): Answer;
export function fit(model: string, fields?: Fields): Answer;
export function plan(model: string, fields?: Fields): Answer;
export function train(model: string, fields?: Fields): Answer;
export function sim(model: string, fields?: Fields): Answer;
export function pick(fields: Fields): Answer;
export function diagnose(text: string, fields?: Fields): Answer;
