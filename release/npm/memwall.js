#!/usr/bin/env node
"use strict";

const { spawnSync } = require("child_process");

let result;
try {
  result = spawnSync(require("./binary.js")(), process.argv.slice(2), { stdio: "inherit" });
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
if (result.error) {
  console.error(`memwall: ${result.error.message}`);
  process.exit(1);
}
if (result.signal) process.kill(process.pid, result.signal);
process.exitCode = result.status;
