package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// commit is what stands in the tree.
type commit struct {
	id    string
	time  time.Time
	dirty bool // tracked files differ from it, or there are files that git neither tracks nor ignores
}

func headCommit(dir string) (commit, error) {
	head, err := git(dir, "log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, err
	}
	id, seconds, _ := strings.Cut(head, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return commit{}, fmt.Errorf("git gives no time of commit %s: %w", id, err)
	}
	changes, err := git(dir, "status", "--porcelain")
	return commit{id: id, time: time.Unix(n, 0).UTC(), dirty: changes != ""}, err
}

func git(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
