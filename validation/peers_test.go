package validation

import (
	"strings"
	"testing"
)

// TestPeersAreBesideUs: nearly every row of stub devices has the peer's figure, each figure has a row, and ours are
// closer.
func TestPeersAreBesideUs(t *testing.T) {
	r := report(t)
	if len(r.Besides) == 0 {
		t.Fatal("no peers")
	}
	for _, b := range r.Besides {
		if b.Rows < 1500 || b.Theirs.Median == 0 || b.Ours.Median >= b.Theirs.Median || b.Ours.P90 >= b.Theirs.P90 {
			t.Errorf("%s: %+v", b.Peer.Name, b)
		}
		asked := map[string]bool{}
		for i := range r.Sets {
			for j := range r.Sets[i].Rows {
				asked[peerKey(&r.Sets[i].Rows[j].Ask)] = true
			}
		}
		for key := range b.Peer.totals {
			if !asked[key] {
				t.Fatalf("%s: no row asks for %q", b.Peer.Name, key)
			}
		}
	}
}

// TestPeerFiles: what is not a file of a peer is refused.
func TestPeerFiles(t *testing.T) {
	head := "# name\ta\n# version\t1\n# source\ts\n# how\th\n"
	if p, err := parsePeer(head + "m\tw\t-c 1\t5\n"); err != nil || p.totals["m\tw\t-c 1"] != 5 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{head + "m\tw\tx\n", head + "no tabs\n", "# nme\ta\n", strings.Replace(head, "# how\th\n", "", 1)} {
		if p, err := parsePeer(text); err == nil {
			t.Errorf("%q: %+v", text, p)
		}
	}
}
