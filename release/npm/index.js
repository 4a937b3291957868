"use strict";

const { spawnSync } = require("child_process");
const binary = require("./binary.js");

/** A question that has no answer: code, field, value, message and hint as the contract names them. */
class MemwallError extends Error {
  constructor(error) {
    super(error.hint ? `${error.message} (${error.hint})` : error.message);
    this.name = "MemwallError";
    Object.assign(this, { code: error.code, field: error.field, value: error.value, hint: error.hint });
  }
}

const read = (request, ...flags) => {
  const run = spawnSync(binary(), ["batch", ...flags], { input: JSON.stringify(request) + "\n", encoding: "utf8", maxBuffer: 1 << 28 });
  if (run.error) throw run.error;
  const line = run.stdout.split("\n", 1)[0];
  if (!line) throw new Error(`memwall: ${run.stderr.trim() || `exit ${run.status}`}`);
  const answer = JSON.parse(line);
  if (answer.error) throw new MemwallError(answer.error);
  return answer;
};

/** Answers a request of the contract, such as {ask: "fit", model: "qwen3-32b", hardware: "rtx-4090"}. */
const ask = (request) => read(request);

const on = ({ on: hardware, ...fields }) => (hardware === undefined ? fields : { hardware, ...fields });
const about = (name) => (model, fields = {}) => ask({ ask: name, model, ...on(fields) });

module.exports = {
  ask, MemwallError,
  svg: (request) => read(on(request), "--svg").svg,
  fit: about("fit"), plan: about("plan"), train: about("train"), sim: about("sim"),
  pick: (fields) => ask({ ask: "pick", ...on(fields) }),
  diagnose: (text, fields = {}) => ask({ ask: "diagnose", text, ...on(fields) }),
};
