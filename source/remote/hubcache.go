package remote

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
)

// The hub's own cache on this machine (huggingface.co/docs/hub/local-cache): models--ORG--NAME/refs/BRANCH holds a
// commit, models--ORG--NAME/snapshots/COMMIT the files of it, which are links into blobs.

// hubCacheDir is HF_HUB_CACHE, else hub below HF_HOME; "" when it is not known.
func (f *Finder) hubCacheDir() string {
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"} {
		if dir := f.env(name); dir != "" {
			return expand(dir, f.home)
		}
	}
	if dir := hubHome(f.env, f.home); dir != "" {
		return filepath.Join(dir, "hub")
	}
	return ""
}

// hubCache is the snapshot that a revision names, if the file that is meant lies in it; nil otherwise.
func (f *Finder) hubCache(r *reference) *source.Place {
	repo, commit := f.snapshot(r)
	if commit == "" {
		return nil
	}
	files := os.DirFS(filepath.Join(repo, "snapshots", commit))
	path, err := pick(r, namesOf(files))
	if err != nil || path == "." && len(namesOf(files)) == 0 {
		return nil
	}
	p := &source.Place{Files: files, Path: path, Name: r.repo, Hub: r.repo,
		From: hubDomain + "/" + r.repo + " at " + commit + " in the hub's cache"}
	p.Fix = "the hub's cache at " + repo + " lacks it, and HF_HUB_OFFLINE is set: unset it once, or hf download " + r.repo
	if !r.pinned() {
		p.Notes = append(p.Notes, memwall.Note{Code: "hub_cache", Severity: "info", Field: "model",
			Text: "read from the hub's cache on this machine, where " + r.revision + " is " + commit[:8] + "; the hub may have a newer " +
				"one: hf:" + r.repo + "@COMMIT names one"})
	}
	return p
}

// hubFolder is where the hub's cache has a repository; "" when it is not known.
func (f *Finder) hubFolder(r *reference) string {
	dir := f.hubCacheDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "models--"+strings.ReplaceAll(r.repo, "/", "--"))
}

// snapshot is the folder of a repository, and the commit that a revision names there; "" for none.
func (f *Finder) snapshot(r *reference) (repo, commit string) {
	repo = f.hubFolder(r)
	if repo == "" {
		return "", ""
	}
	commit = r.revision
	if !r.pinned() {
		commit = strings.TrimSpace(firstOf(filepath.Join(repo, "refs", filepath.FromSlash(r.revision)), 64))
	}
	if !isCommit(commit) {
		return repo, ""
	}
	return repo, commit
}

// namesOf lists the files of a folder and of those below it, no deeper than repositories go.
func namesOf(files fs.FS) (out []string) {
	const deepest = 4
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read is not there
		switch {
		case err != nil || len(out) > maxListed:
			return fs.SkipAll
		case d.IsDir() && strings.Count(name, "/") >= deepest:
			return fs.SkipDir
		case !d.IsDir() && validFile(name):
			out = append(out, name)
		}
		return nil
	})
	return out
}

// looked says where a model was looked for while offline.
func (f *Finder) looked(r *reference) string {
	var places []string
	if dir := f.hubCacheDir(); dir != "" && r.kind == onHub {
		places = append(places, "the hub's cache at "+dir)
	}
	if f.cache != nil {
		places = append(places, "memwall's at "+f.cache.Dir())
	}
	if len(places) == 0 {
		return "there is no cache"
	}
	return "looked in " + strings.Join(places, " and ")
}
