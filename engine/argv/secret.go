package argv

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// What is secret in a pasted text is redacted before any of it is shown or kept: keys, tokens, passwords and
// bearer headers.

// redacted stands where a secret stood.
const redacted = "REDACTED"

// blot hides what is secret in a value: all of it where its flag's or variable's name says so or it looks like a key, else what
// is secret in the settings, scripts and addresses that it holds. Whatever is shown of a pasted text or of a process goes through it.
func blot(name, value string) string {
	switch {
	case value == "":
		return value
	case secretName(name) && !counted(name, value), secretValue(value):
		return redacted
	}
	if out, ok := blotJSON(value); ok {
		return out
	}
	if strings.ContainsAny(value, wordEnds+"\n") {
		return BlottedLine(value)
	}
	return credentials(value)
}

// counted reports whether a value is a number of a few digits under a name that counts tokens: --prefill-token-threshold 400.
func counted(name, value string) bool {
	const digits = 7
	return len(value) <= digits && strings.Trim(value, "0123456789") == "" &&
		(!secretKey(name) || strings.HasSuffix(strings.ToLower(name), "per-token"))
}

// blotJSON hides what is secret in a text of JSON; false for a text of another kind, or without a secret.
func blotJSON(text string) (string, bool) {
	if start := strings.TrimLeft(text, " \t\n\r"); start == "" || start[0] != '{' && start[0] != '[' {
		return "", false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return "", false
	}
	found := false
	v = redactJSON(v, "", &found)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if !found || e.Encode(v) != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// redactJSON is a value of JSON under a name, without what is secret.
func redactJSON(v any, name string, found *bool) any {
	if secretKey(name) && !harmless(v) {
		*found = true
		return redacted
	}
	switch x := v.(type) {
	case map[string]any:
		for k, inner := range x {
			x[k] = redactJSON(inner, k, found)
		}
	case []any:
		for i, inner := range x {
			x[i] = redactJSON(inner, "", found)
		}
	case string:
		out := blot("", x)
		*found = *found || out != x
		return out
	}
	return v
}

// harmless are values that no secret is.
func harmless(v any) bool {
	switch x := v.(type) {
	case string:
		return x == "" || noSecrets[strings.ToLower(x)]
	case bool, nil:
		return true
	}
	return false
}

// ShownAs is an assignment as it may be shown.
func ShownAs(name, value string) string { return name + "=" + blot(name, value) }

// Blotted is a word that no flag stands before, as it may be shown.
func Blotted(word string) string { return blot("", word) }

var secretWords = map[string]bool{"key": true, "apikey": true, "token": true, "secret": true, "password": true, "passwd": true, "pass": true, "bearer": true, "authorization": true, "credential": true, "credentials": true, "pwd": true, "passphrase": true, "auth": true, "cookie": true, "signature": true, "sig": true, "accesskey": true, "secretkey": true, "privatekey": true}

func secretName(name string) bool {
	return slices.ContainsFunc(nameWords(name), func(w string) bool { return secretWords[w] })
}

// nameWords parts a name at its dashes, underscores and dots, and where a small letter meets a capital.
func nameWords(name string) []string {
	var b strings.Builder
	small := false
	for _, r := range name {
		if small && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		small = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		b.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
}

// secretStarts are what keys of hubs, clouds and services begin with.
var secretStarts = []string{"hf_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "nvapi-", "AKIA", "ASIA", "xoxb-", "xoxp-", "AIza", "eyJ", "gsk_", "r8_"}

func secretValue(v string) bool {
	low := strings.ToLower(v)
	for _, header := range []string{"authorization:", "bearer ", "x-api-key:", "api-key:"} {
		if strings.Contains(low, header) {
			return true
		}
	}
	return startsSecret(v)
}

func startsSecret(v string) bool {
	for _, p := range secretStarts {
		if len(v) >= len(p)+16 && strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

// credentials blots the user and password, and the tokens of the query, of an address.
func credentials(v string) string {
	at := strings.Index(v, "://")
	if at < 0 {
		return v
	}
	head, rest := v[:at+3], v[at+3:]
	host, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, tail = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = redacted + host[i:]
	}
	path, query, ok := strings.Cut(tail, "?")
	if !ok {
		return head + host + tail
	}
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok && (secretName(name) || secretValue(value)) {
			pairs[i] = name + "=" + redacted
		}
	}
	return head + host + path + "?" + strings.Join(pairs, "&")
}

// BlottedLine is a line of anybody's log as it may be shown: the values of flags, variables, headers and keys that are
// secret by their name, words that look like keys, and users and passwords of addresses are redacted.
func BlottedLine(line string) string {
	var b strings.Builder
	secret := false // the next word is the value of a name that is secret
	within := 0     // braces and brackets since such a value began
	for len(line) > 0 {
		n := strings.IndexAny(line, wordEnds)
		if n < 0 {
			n = len(line)
		}
		if n == 0 {
			within = max(0, within+nests(line[0], secret || within > 0))
			b.WriteByte(line[0])
			line = line[1:]
			continue
		}
		if strings.HasPrefix(line[n:], "://") {
			n = addressEnd(line)
		}
		word, rest := line[:n], line[n:]
		line = rest
		switch low := strings.ToLower(word); {
		case low == "bearer" || low == "basic":
			b.WriteString(word)
			secret = true
			continue
		case (secret || within > 0) && !noSecrets[strings.ToLower(word)] || startsSecret(word):
			b.WriteString(redacted)
		default:
			b.WriteString(credentials(word))
		}
		secret = valueFollows(word, rest) && secretKey(word)
	}
	return b.String()
}

// nests is by how much a byte opens or closes a value that is secret.
func nests(c byte, secret bool) int {
	switch {
	case !secret:
		return 0
	case c == '{' || c == '[' || c == '(':
		return 1
	case c == '}' || c == ']' || c == ')':
		return -1
	}
	return 0
}

const wordEnds = " \t\"',;()[]{}<>=:"

func addressEnd(line string) int {
	if n := strings.IndexAny(line, " \t\"'<>"); n >= 0 {
		return n
	}
	return len(line)
}

// noSecrets are values that no secret has, and types that stand before values (--override-kv tokenizer.ggml.add_bos_token=bool:true).
var noSecrets = map[string]bool{"true": true, "false": true, "null": true, "none": true, "auto": true, "bool": true, "int": true, "float": true, "str": true}

// secretKey: the last word of a name says what its value is.
func secretKey(name string) bool {
	w := nameWords(name)
	return len(w) > 0 && secretWords[w[len(w)-1]]
}

// valueFollows: "--api-key x", "API_KEY=x", "\"token\": \"x\"". A word of a sentence has no value behind it.
func valueFollows(word, rest string) bool {
	if strings.HasPrefix(word, "--") {
		return true
	}
	rest = strings.TrimLeft(rest, "\"' ")
	return strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":")
}

// Shown is a process's arguments as a command line that may be shown: the values of flags that are secret by their name,
// and words that look like keys, are redacted.
func Shown(args []string) string {
	var b strings.Builder
	flag := ""
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case !isFlag(a):
			b.WriteString(Quote(blot(flag, a)))
			flag = ""
		case strings.Contains(a, "="):
			name, value, _ := strings.Cut(a, "=")
			b.WriteString(Quote(name + "=" + blot(name, value)))
			flag = ""
		default:
			b.WriteString(Quote(blot("", a)))
			flag = a
		}
	}
	return b.String()
}

// Line writes arguments as a command line that Parse reads back. It holds all that they hold.
func Line(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = Quote(a)
	}
	return strings.Join(quoted, " ")
}

// Assigned is an assignment as a shell reads it back. It holds all that the variable holds.
func Assigned(name, value string) string { return name + "=" + Quote(value) }
