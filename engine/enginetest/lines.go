package enginetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/argv"
)

// FromArgs is an engine's reader of a command line.
type FromArgs func(*argv.Command) (*argv.Launch, error)

// CheckLines reads the last command of each text, and compares the model, the plan as JSON, the quantisation and, with | between, the
// arguments that are not known.
func CheckLines(t *testing.T, from FromArgs, rows [][5]string) {
	t.Helper()
	for _, row := range rows {
		line, want := row[0], [4]string(row[1:])
		l, err := launched(line, from)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		l.Plan.EngineArgs = nil
		plan, err := json.Marshal(l.Plan)
		if got := [4]string{l.Model, string(plan), l.Quant, strings.Join(l.Unknown, "|")}; err != nil || got != want {
			t.Errorf("%s: %v\n got  %q\n want %q", line, err, got, want)
		}
	}
}

// CheckRefused reads lines that are each refused in the words beside it.
func CheckRefused(t *testing.T, from FromArgs, rows [][2]string) {
	t.Helper()
	for _, row := range rows {
		if _, err := launched(row[0], from); err == nil || err.Error() != row[1] {
			t.Errorf("%s: %v", row[0], err)
		}
	}
}

func launched(text string, from FromArgs) (*argv.Launch, error) {
	cmds, err := argv.Parse(text)
	if err != nil {
		return nil, err
	}
	return from(&cmds[len(cmds)-1])
}
