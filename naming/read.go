package naming

import (
	"regexp"
	"strings"
)

// maxText bounds the length of a text; the longest names and paths in use have a few hundred bytes.
const maxText = 1024

// Read parses a text. If it names nothing, the result has no Base.
func Read(text string) Name {
	text = strings.TrimSpace(text)
	n := Name{Text: text}
	if len(text) > maxText || strings.ContainsAny(text, "\n\r\x00") {
		return n
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, "/"), "___", ".") // Windows, ModelScope's cache
	text = n.ofOllama(strings.Trim(text, `"'`+"`"))
	if bare := strings.TrimRight(text, "/"); strings.Count(bare, "/") < 2 && bare != "" && bare[0] != '.' && bare[0] != '~' {
		text = bare // a folder of this name
	}
	text, far := inHub(text)
	if at := strings.IndexByte(text, '@'); at > 0 && strings.Contains(text, "/") {
		revision := text[at+1:]
		if text = text[:at]; inGGUF(strings.ToLower(revision)) != "" {
			text += ":" + revision // as LM Studio distinguishes a model's files
		}
	}
	if _, file, ok := strings.Cut(text, " / "); ok { // "qwen3 32B Q8_0 / Qwen3-32B-Q8_0": a label followed by a file
		text = file
	}
	name := text
	if isPath(text) && !far {
		name = n.placed(text)
	}
	name = downloaded.ReplaceAllString(name, "$1")
	n.read(name)
	return n
}

// Ollama commands followed by a model.
var ollama = []string{"ollama run ", "ollama pull ", "ollama show ", "ollama create ", "ollama:"}

// ofOllama strips the program's command, and what follows the name.
func (n *Name) ofOllama(text string) string {
	line := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "$"), ">"))
	for _, c := range ollama {
		if len(line) > len(c) && strings.EqualFold(line[:len(c)], c) {
			n.Ollama = true
			rest := strings.Fields(line[len(c):])
			for _, w := range rest {
				if !strings.HasPrefix(w, "-") {
					return strings.TrimPrefix(w, "library/")
				}
			}
		}
	}
	return text
}

// read parses a name without path: NAME, ORG/NAME or ORG/NAME/FILE, each with an optional tag.
func (n *Name) read(name string) {
	name, tag, tagged := strings.Cut(name, ":")
	parts := strings.Split(name, "/")
	if len(parts) > 1 {
		n.Org = strings.ToLower(parts[0])
		if n.Repo == "" && !n.Path {
			n.Repo = parts[0] + "/" + parts[1]
		}
		name = parts[1]
		n.Ollama = n.Ollama || len(parts) == 2 && !n.Path && ofLibrary.MatchString(tag) // of a user of Ollama's library
	} else if tagged && tag != "" {
		n.Ollama = true
	}
	n.Tag = tag
	more := ""
	if file, ok := fileOf(parts[len(parts)-1]); ok {
		low := strings.ToLower(file)
		n.File, n.GGUF = file, strings.HasSuffix(low, ".gguf") || strings.HasSuffix(low, ".llamafile")
		if more = stemOf(file); len(parts) < 3 {
			name, more = more, ""
		}
	}
	n.GGUF = n.GGUF || n.Ollama
	name = versions.ReplaceAllString(exllama.ReplaceAllString(name, "$1-"), "$1.$2")
	base, format, _ := cutFormat(tokens(name))
	if tag != "" && n.Org != "" { // a file of a repository, or words of a user's name
		n.GGUF, more = true, tag
		if n.Ollama && tag != "latest" && ofLibrary.MatchString(tag) {
			base = append(base, tokens(tag)...)
		}
	}
	if _, f, ok := cutFormat(tokens(more)); ok {
		format = append(f, format...)
	}
	n.stored = strings.Join(format, " ")
	n.format(format)
	if n.Base = strings.Join(base, "-"); len(format) == 0 {
		n.Base = name
	}
}

// ofLibrary matches a tag of Ollama's library, which says a size or nothing: 8b-v2, latest. One of a repository says a file.
var ofLibrary = regexp.MustCompile(`^(?i)(\d+(\.\d+)?[bm](-.*)?|latest)$`)

// downloaded matches a file in llama.cpp's cache: owner, repository and file.
var downloaded = regexp.MustCompile(`(?i)[^/]+[-_]GGUF_([^/]+\.gguf)$`)

// versions matches numbers whose point is an underscore, as in file names: Qwen3_6-35B, Llama-3_3. Q4_0 and similar are
// formats.
var versions = regexp.MustCompile(`(?i)((?:^|[-_ ]|[a-pr-z])\d)_(\d)(?:\b)`)

// exllama matches a format followed by bits: exl2_6.0bpw.
var exllama = regexp.MustCompile(`(?i)\b(exl[23])_`)
