package remote

import (
	"path"
	"strings"
)

// guess is a file that is asked for while the list of its repository is still on the way. Names of GGUF files follow those
// of their repositories nearly everywhere, so that a cold header costs two round trips instead of three; where the guess is
// wrong it costs one answer that there is no such file.
type guess struct {
	repo *repo
	file *file
	done chan struct{}
	err  error
}

// dotted are accounts that put a point before the quantisation; most put a dash.
var dotted = map[string]bool{"mradermacher": true, "QuantFactory": true, "MaziyarPanahi": true}

// guessed is how the file of a quantisation is most likely called; "" when nothing is to be guessed.
func guessed(r *reference) string {
	account, name, ok := strings.Cut(r.repo, "/")
	if !ok || r.quant == "" {
		return ""
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(name, "-GGUF"), "-gguf")
	if stem == name {
		return ""
	}
	if dotted[account] {
		stem = strings.TrimSuffix(stem, "-i1") + "."
	} else {
		stem += "-"
	}
	return stem + strings.ToUpper(r.quant) + ".gguf"
}

// guess asks for the file at once, unless the list is at hand; nil: it does not.
func (p *repo) guess() *guess {
	name := guessed(p.ref)
	if name == "" || p.finder.offline || !validFile(name) {
		return nil
	}
	for _, what := range []string{listed, "commit"} { // of what was asked for before, much is at hand
		if _, _, kept := p.finder.cache.Get(p.key(what, p.ref.revision)); kept {
			return nil
		}
	}
	at := *p.ref
	at.file = name
	g := &guess{repo: &repo{finder: p.finder, service: p.service, ref: &at}, done: make(chan struct{})}
	commit := ""
	if p.ref.pinned() {
		commit = p.ref.revision
	}
	g.file = g.repo.directFile(commit)
	go func() {
		_, g.err = g.file.Size()
		close(g.done)
	}()
	return g
}

// right gives the file when it is the one that is meant, of the commit that is listed; nil when it is not, and what was
// fetched of it is dropped.
func (g *guess) right(name, commit string) *file {
	switch {
	case g == nil:
		return nil
	case g.repo.ref.file != name:
		go g.drop()
		return nil
	}
	<-g.done
	if g.err == nil && g.repo.pinned.Commit == commit {
		return g.file
	}
	g.drop()
	return nil
}

// drop ends what the guess began.
func (g *guess) drop() {
	<-g.done
	g.file.mu.Lock()
	defer g.file.mu.Unlock()
	g.file.drop()
}

// projectors of a repository, whatever their folder.
func projectors(names []string) (out []string) {
	for _, n := range names {
		if base := strings.ToLower(path.Base(n)); strings.HasSuffix(base, ".gguf") && strings.Contains(base, "mmproj") {
			out = append(out, n)
		}
	}
	return out
}
