package cli_test

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/internal/cli"
)

// TestStoreHandsOver: memwall-farm gets all that stands behind the command, flags and --help too.
func TestStoreHandsOver(t *testing.T) {
	var got []string
	c := cli.Config{Args: []string{"store", "drift", "team.db", "--page", "x.html", "--help"},
		Farm: func(args ...string) error { got = args; return nil }}
	if code := cli.Run(c); code != 0 || !slices.Equal(got, []string{"store", "drift", "team.db", "--page", "x.html", "--help"}) {
		t.Errorf("%d, %q", code, got)
	}
}
