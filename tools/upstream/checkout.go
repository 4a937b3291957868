package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checkout is a project's source: a folder, or a revision of a repository.
type checkout struct {
	dir, rev string // rev is "" for the files as they lie in a folder
}

// open finds out what a path is; without a revision a repository that has no work tree is read at HEAD.
func open(dir, rev string) (*checkout, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	c := &checkout{dir, rev}
	if rev == "" {
		if bare, err := c.git("rev-parse", "--is-bare-repository"); err == nil && strings.TrimSpace(bare) == "true" {
			c.rev = "HEAD"
		}
	}
	if c.rev != "" {
		if _, err := c.git("rev-parse", "--verify", "--quiet", c.rev+"^{commit}"); err != nil {
			return nil, fmt.Errorf("%s has no revision %q", dir, c.rev)
		}
	}
	return c, nil
}

func (c *checkout) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", c.dir}, args...)...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(talk.Bytes()))
	}
	return out.String(), nil
}

// read gives a file's text; fs.ErrNotExist where there is none.
func (c *checkout) read(file string) (string, error) {
	if c.rev == "" {
		data, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(file)))
		return string(data), err
	}
	if _, err := c.git("cat-file", "-e", c.rev+":"+file); err != nil {
		return "", fs.ErrNotExist
	}
	return c.git("show", c.rev+":"+file)
}

// has reports whether a file is there.
func (c *checkout) has(file string) bool {
	_, err := c.read(file)
	return err == nil
}

// named is what was read: a tag or a commit with its day; of plain folders the path.
func (c *checkout) named() string {
	rev := c.rev
	if rev == "" {
		rev = "HEAD"
	}
	text, err := c.git("log", "-1", "--format=%h %cs", rev)
	if err != nil {
		return filepath.Base(c.dir)
	}
	if tag, err := c.git("describe", "--tags", "--exact-match", rev); err == nil {
		return strings.TrimSpace(tag)
	}
	return strings.TrimSpace(text)
}

// since lists the changes of lines of a file after a revision that was read before, newest first, with what they changed if that is
// asked for; nothing where the repository lacks that revision.
func (c *checkout) since(read, file string, from, to int, patch bool) []string {
	before, _, _ := strings.Cut(read, " ")
	rev := c.rev
	if rev == "" {
		rev = "HEAD"
	}
	args := []string{"log", "--format=%cs %h %s", fmt.Sprintf("-L%d,%d:%s", from, to, file)}
	if !patch {
		args = append(args, "-s")
	}
	text, err := c.git(append(args, before+".."+rev)...)
	if err != nil || strings.TrimSpace(text) == "" {
		return nil
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), context)
}

// context are the lines of a patch that it leaves as they were, and its headers.
func context(l string) bool {
	return l == "" || strings.ContainsRune(" @", rune(l[0])) || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "--- ") ||
		strings.HasPrefix(l, "+++ ")
}

// moved looks for the files that define a symbol now, where the one that was read does not.
func (c *checkout) moved(symbol string) []string {
	if symbol == "" {
		return nil
	}
	last := symbol[strings.LastIndex(symbol, ":")+1:]
	args := []string{"grep", "-l", "-E", `(def|class) ` + last + `\b|^` + last + `\b.*=|::` + last + `\(`}
	if c.rev != "" {
		args = append(args, c.rev)
	}
	text, err := c.git(append(args, "--", "*.py", "*.cpp", "*.h", "*.cu", "*.cuh")...)
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(text) {
		name := strings.TrimSpace(line)
		if c.rev != "" {
			_, name, _ = strings.Cut(name, ":")
		}
		if len(out) < 3 && !strings.Contains(name, "test") {
			out = append(out, name)
		}
	}
	return out
}

// absent reports that something is not there, as opposed to not readable.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
