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

/** Answers a request of the contract, such as {ask: "fit", model: "qwen3-32b", hardware: "rtx-4090"}. */
function ask(request) {
  const run = spawnSync(binary(), ["batch"], { input: JSON.stringify(request) + "\n", encoding: "utf8", maxBuffer: 1 << 28 });
  if (run.error) throw run.error;
  const line = run.stdout.split("\n", 1)[0];
  if (!line) throw new Error(`memwall: ${run.stderr.trim() || `exit ${run.status}`}`);
  const answer = JSON.parse(line);
  if (answer.error) throw new MemwallError(answer.error);
  return answer;
}

const on = ({ on: hardware, ...fields }) => (hardware === undefined ? fields : { hardware, ...fields });
const about = (name) => (model, fields = {}) => ask({ ask: name, model, ...on(fields) });

module.exports = {
  ask, MemwallError,
  fit: about("fit"), plan: about("plan"), train: about("train"), sim: about("sim"),
  pick: (fields) => ask({ ask: "pick", ...on(fields) }),
  diagnose: (text, fields = {}) => ask({ ask: "diagnose", text, ...on(fields) }),
};
