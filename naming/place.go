package naming

import (
	"regexp"
	"slices"
	"strings"
)

// hubs are prefixes of a repository in a URL.
var hubs = []string{"https://huggingface.co/", "http://huggingface.co/", "https://hf.co/", "https://www.modelscope.cn/models/", "https://modelscope.cn/models/", "https://ollama.com/library/", "huggingface.co/", "hf.co/", "hf:", "modelscope:", "modelscope.cn/"}

// inHub strips the hub's URL from a repository, and anything after it.
func inHub(text string) (rest string, ok bool) {
	for _, h := range hubs {
		if len(text) > len(h) && strings.EqualFold(text[:len(h)], h) {
			rest, _, _ = strings.Cut(text[len(h):], "?")
			parts := strings.SplitN(strings.Trim(rest, "/"), "/", 6)
			if len(parts) > 3 && (parts[2] == "blob" || parts[2] == "resolve" || parts[2] == "tree") {
				parts = append(parts[:2:2], parts[min(4, len(parts)):]...)
			}
			return strings.Join(parts, "/"), true
		}
	}
	return text, false
}

// cached matches the repository in a path of the hub's cache (huggingface_hub: models--ORG--NAME/snapshots/COMMIT).
var cached = regexp.MustCompile(`models--([\w.-]+?)--([\w.-]+?)(?:/snapshots/[^/]+)?(?:/(.*))?$`)

func inCache(text string) []string {
	if !strings.Contains(text, "models--") {
		return nil
	}
	return cached.FindStringSubmatch(text)
}

// shard matches the number of a file in a set, and numbers that tools insert in names.
var shard = regexp.MustCompile(`(?i)[-_.](?:\d{5}-of-\d{5}|part\d+of\d+)`)

// suffixes of model files.
var suffixes = []string{".gguf", ".safetensors", ".llamafile", ".bin", ".ggml", ".pth", ".pt"}

// isPath distinguishes paths from hub names, which have one slash and start with a letter or digit.
func isPath(text string) bool {
	switch {
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "."), strings.HasPrefix(text, "~"), strings.HasPrefix(text, "$"):
		return true
	case len(text) > 2 && text[1] == ':' && text[2] == '/': // C:/
		return true
	}
	_, file := fileOf(text)
	return strings.Count(text, "/") > 1 || file && strings.Contains(text, "/")
}

// generic are file and folder names that say nothing about a model.
var generic = map[string]bool{
	"model": true, "models": true, "weights": true, "ggml": true, "main": true, "snapshot": true, "snapshots": true, "hf": true, "hub": true, "gguf": true, "llm": true, "data": true,
	"checkpoint": true, "checkpoints": true, "root": true, "home": true, "mnt": true, "opt": true, "tmp": true, "workspace": true, "huggingface": true, "modelscope": true, "consolidated": true, "pytorch_model": true,
	"config": true, "cache": true, ".cache": true, "main-model": true, "tokenizer": true, "master": true, "latest": true, "ollama": true, "lmstudio": true, "original": true, "files": true,
}

// placed parses a path: the file, and the words that name the model.
func (n *Name) placed(text string) (name string) {
	n.Path = true
	if hit := inCache(text); hit != nil {
		n.Repo = hit[1] + "/" + hit[2]
		n.File, _ = fileOf(hit[3])
		return strings.TrimSuffix(n.Repo+"/"+n.File, "/")
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' })
	file := ""
	if len(parts) > 0 {
		file, _ = fileOf(parts[len(parts)-1])
	}
	if n.File = file; file != "" {
		if stem := stemOf(file); !dull(stem) {
			return file
		}
		parts = parts[:len(parts)-1]
	}
	for i := len(parts) - 1; i >= 0; i-- {
		if !dull(parts[i]) {
			if i > 0 && !generic[strings.ToLower(parts[i-1])] && !strings.ContainsAny(parts[i-1], ".~:$") {
				return parts[i-1] + "/" + parts[i]
			}
			return parts[i]
		}
	}
	return ""
}

// fileOf returns a text that ends like a model file.
func fileOf(text string) (string, bool) {
	low := strings.ToLower(text)
	for _, s := range suffixes {
		if strings.HasSuffix(low, s) {
			return text[strings.LastIndexByte(text, '/')+1:], true
		}
	}
	return "", false
}

// stemOf returns a file name without suffix and shard number.
func stemOf(file string) string {
	low := strings.ToLower(file)
	for _, s := range suffixes {
		if strings.HasSuffix(low, s) {
			file = file[:len(file)-len(s)]
			break
		}
	}
	if !strings.Contains(file, "of") {
		return file
	}
	return shard.ReplaceAllString(file, "")
}

// hashed matches names that are digests.
var hashed = regexp.MustCompile(`^(sha256[-:])?[0-9a-f]{24,}$`)

func dull(part string) bool {
	low := strings.ToLower(part)
	base, _, _ := cutFormat(tokens(stemOf(low)))
	named := slices.ContainsFunc(base, func(w string) bool { return !generic[w] })
	return generic[low] || !named || hashed.MatchString(low) || strings.Trim(low, ".~$") == ""
}
