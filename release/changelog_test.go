package main

import (
	"strings"
	"testing"
)

// TestChangelog: since the release before, and not the release itself.
func TestChangelog(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if _, err := git(dir, append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	run("commit", "-q", "--allow-empty", "-m", "A first commit")
	if got, err := changelog(dir, "1.9.0", "HEAD"); err != nil || !strings.HasSuffix(got, "The first release.\n") {
		t.Errorf("%q, %v", got, err)
	}
	run("tag", "v1.9.0")
	run("commit", "-q", "--allow-empty", "-m", "vLLM: pages of *8* are read")
	run("commit", "-q", "--allow-empty", "-m", "A third commit")
	run("tag", "v1.10.0")
	want := "# 1.10.0\n\nSince v1.9.0:\n\n- A third commit\n- vLLM: pages of \\*8\\* are read\n"
	if got, err := changelog(dir, "1.10.0", "HEAD"); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := changelog(dir, "1.10.0", "nothing"); err == nil {
		t.Error("a commit that is not there has a changelog")
	}
}
