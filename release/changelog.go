package main

import (
	"fmt"
	"strings"
)

// most subjects of a changelog: a release's page takes 125,000 characters.
const most = 1000

// changelog is what came since the release before, by the subjects of the log, newest first.
func changelog(dir, version, id string) (string, error) {
	tags, err := git(dir, "tag", "--merged", id, "--list", "v*", "--sort=-version:refname")
	if err != nil {
		return "", err
	}
	before := ""
	for _, t := range strings.Fields(tags) {
		if before == "" && t != "v"+version {
			before = t
		}
	}
	if before == "" {
		return fmt.Sprintf("# %s\n\nThe first release.\n", version), nil
	}
	log, err := git(dir, "log", "--no-merges", "--format=%s", before+".."+id)
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("# %s\n\nSince %s:\n\n", version, before)
	subjects := strings.Split(log, "\n")
	for _, s := range subjects[:min(len(subjects), most)] {
		out += "- " + escape.Replace(s) + "\n"
	}
	if n := len(subjects) - most; n > 0 {
		out += fmt.Sprintf("\nand %d changes before these.\n", n)
	}
	return out, nil
}

// escape keeps a subject text where a page reads Markdown.
var escape = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "<", "\\<", "[", "\\[", "@", "&#64;")
