package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Ways in which a row is handed on. None sends anything: a file is written, an address is printed, a patch is text.
const (
	AsFile  = "file"
	AsIssue = "issue"
	AsPatch = "patch"
)

// Ways returns the ways of sharing.
func Ways() []string { return []string{AsFile, AsIssue, AsPatch} }

// project is where rows are collected.
const project = "https://github.com/memwall/memwall"

// longest address that browsers and the host take.
const longest = 8000

// Shown is the row as people read it: exactly what leaves.
func (r *Row) Shown() (string, error) {
	line, err := r.Line()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(line), "", "  "); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}

// FileName of a row that is shared.
func (r *Row) FileName() string { return "memwall-row-" + r.ID() + ".json" }

// title of an issue.
func (r *Row) title() string {
	return fmt.Sprintf("Measured: %s on %s, %s", r.plan.Model, r.plan.Hardware, strings.TrimSpace(r.plan.Engine))
}

// Issue is the address of a new issue that holds the row; what is too long for an address is an error.
func (r *Row) Issue() (string, error) {
	text, err := r.Shown()
	if err != nil {
		return "", err
	}
	q := url.Values{"title": {r.title()}, "body": {"```json\n" + text + "```\n"}, "labels": {"measurement"}}
	address := project + "/issues/new?" + q.Encode()
	if len(address) > longest {
		return "", &Error{At: "the row", Why: fmt.Sprintf("is too long for an address: %d figures", len(r.Figures)),
			Fix: "--share=file, and attach the file to an issue"}
	}
	return address, nil
}

// Patch adds the row to a checkout of the project: git apply takes it.
func (r *Row) Patch() (string, error) {
	line, err := r.Line()
	if err != nil {
		return "", err
	}
	name := "validation/rows/shared/" + r.ID() + ".json"
	return fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s", name, name, name, line),
		nil
}
