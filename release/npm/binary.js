"use strict";

// The program of this machine: MEMWALL_BINARY, or that of the package for its system and processor.
module.exports = function binary() {
  if (process.env.MEMWALL_BINARY) return process.env.MEMWALL_BINARY;
  const name = `@memwall/${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "memwall.exe" : "memwall";
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    throw new Error(`memwall: the package ${name} is not installed: install without --omit=optional, or set MEMWALL_BINARY to a memwall program`);
  }
};
