import type { Answer, Request } from "./types";
export type * from "./types";

/** A request's fields; `on` is short for `hardware`. */
export type Fields = Partial<Omit<Request, "ask" | "model">> & { on?: string };
export class MemwallError extends Error {
  code: string;
  field?: string;
  value?: string;
  hint?: string;
}
export function ask(request: Partial<Request>): Answer;
/** The picture of a request's answer. */
export function svg(request: Partial<Request> & { on?: string }): string;
export function fit(model: string, fields?: Fields): Answer;
export function plan(model: string, fields?: Fields): Answer;
export function train(model: string, fields?: Fields): Answer;
export function sim(model: string, fields?: Fields): Answer;
export function pick(fields: Fields): Answer;
export function diagnose(text: string, fields?: Fields): Answer;
