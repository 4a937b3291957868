package cli

import (
	"fmt"
	"io"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/safe"
)

// emit writes only the file to stdout; omissions and an unfavorable verdict go to stderr.
func (a *app) emit(f *fitFlags, r *memwall.Request, notes []memwall.Note) error {
	l, err := a.asker.Launch(r, f.emit)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(a.Stdout, safe.Text(l.Text, "\n\t")); err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(a.Stderr, "%s: %s\n", n.Severity, safe.Text(n.Text, ""))
	}
	for _, u := range l.Unsaid {
		fmt.Fprintf(a.Stderr, "info: %s is not in the file: %s\n", u.Field, safe.Text(u.Why, ""))
	}
	if l.Verdict != memwall.Fits {
		fmt.Fprintf(a.Stderr, "warning: the verdict on this plan is %s\n", l.Verdict)
	}
	return checked(f.check, l.Verdict)
}
