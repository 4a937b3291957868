package argv

import "strings"

// What is secret in a pasted text is blotted out before any of it is shown or kept: keys, tokens, passwords and
// bearer headers.

// redacted stands where a secret stood.
const redacted = "REDACTED"

// blot hides a value that is secret by its flag's or variable's name, or by its own look.
func blot(name, value string) string {
	switch {
	case value == "":
		return value
	case secretName(name), secretValue(value):
		return redacted
	}
	return credentials(value)
}

// Shown is an assignment as it may be shown.
func (v Variable) Shown() string { return v.Name + "=" + blot(v.Name, v.Value) }

// Blotted is a word that no flag stands before, as it may be shown.
func Blotted(word string) string { return blot("", word) }

var secretWords = map[string]bool{"key": true, "apikey": true, "token": true, "secret": true, "password": true, "passwd": true, "pass": true, "bearer": true, "authorization": true, "credential": true, "credentials": true}

func secretName(name string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if secretWords[w] {
			return true
		}
	}
	return false
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
	for _, p := range secretStarts {
		if strings.HasPrefix(v, p) && len(v) >= len(p)+16 {
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
// secret by their name, words that look like keys, and users and passwords of addresses are blotted out.
func BlottedLine(line string) string {
	var b strings.Builder
	secret := false // the next word is the value of a name that is secret
	for len(line) > 0 {
		n := strings.IndexAny(line, wordEnds)
		if n < 0 {
			n = len(line)
		}
		if n == 0 {
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
		case secret || secretValue(word):
			b.WriteString(redacted)
		default:
			b.WriteString(credentials(word))
		}
		secret = secretKey(word) && valueFollows(word, rest)
	}
	return b.String()
}

const wordEnds = " \t\"',;()[]{}<>=:"

func addressEnd(line string) int {
	if n := strings.IndexAny(line, " \t\"'<>"); n >= 0 {
		return n
	}
	return len(line)
}

// secretKey: the last word of a name says what its value is.
func secretKey(name string) bool {
	return secretName(name[strings.LastIndexAny(name, "-_.")+1:])
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
// and words that look like keys, are blotted out.
func Shown(args []string) string {
	var b strings.Builder
	flag := ""
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case !isFlag(a):
			b.WriteString(Quote(shownValue(flag, a)))
			flag = ""
		case strings.Contains(a, "="):
			name, value, _ := strings.Cut(a, "=")
			b.WriteString(Quote(name + "=" + shownValue(name, value)))
			flag = ""
		default:
			b.WriteString(Quote(shownValue("", a)))
			flag = a
		}
	}
	return b.String()
}

// shownValue is the value of a flag, or a word with none. Scripts of a shell and settings in JSON may have secrets inside.
func shownValue(flag, value string) string {
	if out := blot(flag, value); out != value {
		return out
	}
	if strings.ContainsAny(value, " \t\n=:") {
		return BlottedLine(value)
	}
	return value
}

// Line writes arguments as a command line that Parse reads back. It holds all that they hold.
func Line(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = Quote(a)
	}
	return strings.Join(quoted, " ")
}

// Set is an assignment as a shell reads it back. It holds all that the variable holds.
func (v Variable) Set() string { return v.Name + "=" + Quote(v.Value) }
