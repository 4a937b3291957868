package cli

import (
	"fmt"

	"github.com/memwall/memwall"
)

// FromCommand reads the command line of an engine ("vllm serve …") and gives the request that it means and
// the arguments that no field of a request holds.
type FromCommand func(text string) (r *memwall.Request, unread []string, err error)

// fromCommand reads a pasted command line. Arguments that are not counted become notes.
func (a *app) fromCommand(text string) (*memwall.Request, []memwall.Note, error) {
	if a.FromCommand == nil {
		return nil, nil, usage("from", text, "--from: no engine's command line can be read here", "say it in flags: memwall fit MODEL --on HARDWARE --engine ENGINE")
	}
	r, unread, err := a.FromCommand(text)
	if err != nil {
		return nil, nil, err
	}
	var notes []memwall.Note
	for _, arg := range unread {
		notes = append(notes, memwall.Note{Code: "unknown_argument", Severity: "warn", Field: "from", Text: fmt.Sprintf("%s was not read: the answer does not count it", arg)})
	}
	return r, notes, nil
}
