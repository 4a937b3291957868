package remote

import (
	"io/fs"
	"net/url"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format"
)

// kind is which service a reference asks.
type kind int

const (
	onHub kind = iota
	onModelScope
	onOllama
	atURL
)

// reference is a model as it was asked for.
type reference struct {
	given    string
	kind     kind
	repo     string // org/name
	revision string // branch, tag or commit; "" for the service's own
	file     string // a path in the repository; "" for what it holds
	quant    string // of the GGUF files: Q4_K_M
	url      *url.URL
}

// badReference is a reference that cannot be one.
func badReference(ref, why, fix string) error {
	return &memwall.Error{Code: memwall.BadField, Field: "model", Value: redact(ref), Message: format.Quote(redact(ref)) + " " + why,
		Hint: fix}
}

const hubForms = "hf:org/name, hf:org/name@revision, hf:org/name:Q4_K_M or hf:org/name/file.gguf"

// longest reference that is read.
const longest = 4096

// parse tells which service is asked for what.
func (f *Finder) parse(ref string) (*reference, error) {
	if len(ref) > longest {
		return nil, badReference(ref[:80]+"…", "is longer than any address", hubForms)
	}
	scheme, rest, _ := strings.Cut(ref, ":")
	switch strings.ToLower(scheme) {
	case "hf":
		return repository(ref, onHub, strings.TrimPrefix(rest, "//"))
	case "modelscope":
		return repository(ref, onModelScope, strings.TrimPrefix(rest, "//"))
	case "ollama":
		return ollamaReference(ref, strings.TrimPrefix(rest, "//"))
	case "https", "http":
		return f.link(ref)
	}
	return nil, badReference(ref, "is an address of a kind that is not read: "+scheme,
		"https://…, "+hubForms+", ollama:name:tag, modelscope:org/name, or a file that is downloaded")
}

// link reads a URL: a page or a file of a service that is known by its host, or a file anywhere.
func (f *Finder) link(ref string) (*reference, error) {
	u, err := url.Parse(ref)
	if err != nil || u.Host == "" {
		return nil, badReference(ref, "is not an address", "https://host/path/model.gguf")
	}
	if u.User != nil {
		return nil, badReference(ref, "holds a password, which is never sent",
			"an address without one; tokens of the hub come from HF_TOKEN")
	}
	where := strings.Trim(u.Path, "/")
	switch host := strings.ToLower(u.Host); {
	case host == "huggingface.co" || host == "www.huggingface.co" || host == "hf.co" || strings.EqualFold(host, hostOf(f.hubEndpoint())):
		return hubLink(ref, onHub, where)
	case host == "modelscope.cn" || host == "www.modelscope.cn" || strings.EqualFold(host, hostOf(f.modelScopeEndpoint())):
		return hubLink(ref, onModelScope, strings.TrimPrefix(where, "models/"))
	case host == "ollama.com" || host == "www.ollama.com":
		return ollamaReference(ref, strings.TrimPrefix(where, "library/"))
	}
	return &reference{given: ref, kind: atURL, url: u}, nil
}

// between are the words between a repository and a revision in the hubs' URLs.
var between = map[string]bool{"blob": true, "resolve": true, "raw": true, "tree": true}

// hubLink reads the path of a hub's URL: org/name, org/name/blob/main/file.gguf.
func hubLink(ref string, k kind, where string) (*reference, error) {
	parts := strings.Split(where, "/")
	if len(parts) < 2 || parts[0] == "datasets" || parts[0] == "spaces" {
		return nil, badReference(ref, "is not a page of a model", "https://…/org/name, or "+hubForms)
	}
	r := &reference{given: ref, kind: k, repo: parts[0] + "/" + parts[1]}
	if name, quant, ok := strings.Cut(parts[1], ":"); ok {
		r.repo, r.quant = parts[0]+"/"+name, quant
	}
	rest := parts[2:]
	if len(rest) > 1 && rest[0] == "file" && rest[1] == "view" { // ModelScope's page of a file
		rest = append([]string{"blob"}, rest[2:]...)
	}
	if len(rest) > 1 && between[rest[0]] {
		r.revision, r.file = revisionOf(rest[1:])
	}
	err := r.check()
	return r, err
}

// revisionOf parts a revision from the path after it; refs/pr/3 is one revision.
func revisionOf(parts []string) (revision, file string) {
	n := 1
	if parts[0] == "refs" && len(parts) > 2 {
		n = 3
	}
	return strings.Join(parts[:n], "/"), strings.Join(parts[n:], "/")
}

// repository reads org/name[@revision][/path][:QUANT].
func repository(ref string, k kind, s string) (*reference, error) {
	r := &reference{given: ref, kind: k}
	if at := strings.LastIndexByte(s, ':'); at > strings.LastIndexByte(s, '/') {
		s, r.quant = s[:at], s[at+1:]
		if r.quant == "" {
			return nil, badReference(ref, "names no quantisation after the colon", hubForms)
		}
	}
	before, after, pinned := strings.Cut(s, "@")
	parts := strings.Split(before, "/")
	switch {
	case pinned && len(parts) <= 2 && after != "":
		r.repo = before
		r.revision, r.file = revisionOf(strings.Split(after, "/"))
	case pinned:
		return nil, badReference(ref, "has its revision in the wrong place", "hf:org/name@revision/file.gguf")
	default:
		r.repo = strings.Join(parts[:min(2, len(parts))], "/")
		r.file = strings.Join(parts[min(2, len(parts)):], "/")
	}
	err := r.check()
	return r, err
}

// word reports whether a name is of letters, digits and others, and begins with none but _ of the others. What services
// name is of such words; anything else cannot be one, and never reaches a URL or a path.
func word(s, others string, most int) bool {
	for i, c := range []byte(s) {
		plain := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !plain && (i == 0 || strings.IndexByte(others, c) < 0) {
			return false
		}
	}
	return s != "" && len(s) <= most && !strings.Contains(s, "..")
}

// isRepo tells org/name, and the few old names without an owner.
func isRepo(s string) bool {
	owner, name, owned := strings.Cut(s, "/")
	return word(owner, ".-", 96) && (!owned || word(name, ".-", 96))
}

// isHex tells sums and commits: so many digits of base 16.
func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

func isCommit(s string) bool { return isHex(s, 40) }

func (r *reference) check() error {
	switch {
	case !isRepo(r.repo):
		return badReference(r.given, "names no repository", hubForms)
	case r.revision != "" && !word(r.revision, ".-+/", 200):
		return badReference(r.given, "names no revision", "a branch, a tag or a commit: hf:org/name@main")
	case r.file != "" && !validFile(r.file):
		return badReference(r.given, "names no file", hubForms)
	case r.quant != "" && !word(r.quant, ".-", 64):
		return badReference(r.given, "names no quantisation", hubForms)
	case r.quant != "" && r.file != "":
		return badReference(r.given, "names a file and a quantisation", "one of the two: "+hubForms)
	}
	return nil
}

// validFile: a path below the repository, without what a URL or a file system would read in another way.
func validFile(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) < 1024 && !strings.ContainsAny(name, "\\\x00\n\r")
}

// pinned reports whether the revision can never mean anything else.
func (r *reference) pinned() bool { return isCommit(r.revision) }
