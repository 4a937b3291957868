package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// real is memwall, built for this system.
func real(t *testing.T) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "memwall.exe")
	c := exec.Command("go", "build", "-o", to, "./cmd/memwall")
	c.Dir = ".."
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// told is what a program says in a folder; "" and a skipped test where there is no such program here.
func told(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("there is no %s here", name)
	}
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %.80q: %v\n%s", name, args, err, said)
	}
	return string(said)
}

// asked in each language: a verdict, a member of a list of objects, one that is not there, the picture, and an error.
const (
	wants    = "fits llama-3.1-8b True True None <svg\nunknown_model model\n"
	inPython = `
import dataclasses, memwall
a = memwall.fit("llama-3.1-8b", on="rtx-4090")
print(a.verdict, a.model.id, a.devices[0].needed_bytes == a["devices"][0]["needed_bytes"] > 8e9, dataclasses.is_dataclass(a.devices[0].ledger[0]), a.disk, a._repr_svg_()[:4])
assert memwall.pick(on="rtx-4090")._repr_svg_() is None
try:
    a.verdct
    print("a member that the contract does not know")
except AttributeError:
    pass
try:
    memwall.fit("no-such-model")
except memwall.MemwallError as e:
    print(e.code, e.field)
`
	inJavaScript = `
const a = memwall.fit("llama-3.1-8b", { on: "rtx-4090" });
console.log(a.verdict, a.model.id, a.devices[0].needed_bytes > 8e9 ? "True" : "False", a.devices[0].ledger.length > 3 ? "True" : "False", a.disk === undefined ? "None" : "", memwall.svg({ ask: "fit", model: "llama-3.1-8b", on: "rtx-4090" }).slice(0, 4));
try { memwall.fit("no-such-model") } catch (e) { console.log(e.code, e.field) }
`
)

// TestPython: what is installed answers with the contract's objects, and a notebook has a picture of it.
func TestPython(t *testing.T) {
	name, data, err := here(t).wheel("1.2.3", real(t), texts, at)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, name), data)
	told(t, dir, nil, "python3", "-m", "venv", "venv")
	python := filepath.Join(dir, "venv", "bin", "python")
	told(t, dir, nil, python, "-m", "pip", "install", "--no-index", "--no-deps", "./"+name)
	if got := told(t, dir, []string{"MEMWALL_BINARY="}, python, "-c", inPython); got != wants {
		t.Errorf("%q, want %q", got, wants)
	}
}

// TestNode: the program behind the package of npm, and the core as WebAssembly, answer the same.
func TestNode(t *testing.T) {
	dir, core := t.TempDir(), t.TempDir()
	carrier, program, err := here(t).npm("1.2.3", real(t), texts, at)
	if err != nil {
		t.Fatal(err)
	}
	main, whole, err := npmOf("1.2.3", texts, at)
	if err != nil {
		t.Fatal(err)
	}
	if err := coreFor("1.2.3", "..", core); err != nil {
		t.Fatal(err)
	}
	inside, packed, err := wasmOf("1.2.3", os.DirFS(core), texts, at)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{carrier: program, main: whole, inside: packed, "package.json": []byte(`{"name":"trial","private":true}`)} {
		write(t, filepath.Join(dir, name), data)
	}
	told(t, dir, nil, "npm", "install", "--offline", "--no-audit", "--no-fund", "--omit=optional", "./"+carrier, "./"+main, "./"+inside)
	for how, begins := range map[string]string{
		"commonjs": `const memwall = require("memwall");`,
		"module":   `import { load } from "@memwall/wasm"; const memwall = await load(); if (memwall.fit("llama-3.1-8b").version !== "1.2.3") console.log("another version");`,
	} {
		script := begins + inJavaScript + "process.exit(0);"
		if got := told(t, dir, []string{"MEMWALL_BINARY="}, "node", "--input-type="+how, "--eval", script); got != wants {
			t.Errorf("%s on %s: %q, want %q", how, runtime.GOOS, got, wants)
		}
	}
	typed(t, dir)
}

// typed: the types of both packages hold what a program does with them, where there is a compiler of TypeScript.
func typed(t *testing.T, dir string) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Log("there is no tsc: the types are not compiled")
		return
	}
	write(t, filepath.Join(dir, "use.ts"), []byte(strings.Join([]string{`import * as native from "memwall";`, `import { load, type Answer } from "@memwall/wasm";`,
		`const a: Answer = native.fit("m", { on: "rtx-4090", context: 8192 });`, `export const n: number | undefined = a.devices?.[0].needed_bytes;`, `load().then(m => m.plan("m", { on: "h100" }));`}, "\n")))
	told(t, dir, nil, tsc, "--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--module", "nodenext", "use.ts")
}
