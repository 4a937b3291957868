package packtext

import (
	"bytes"
	"testing"
)

// TestRoundTrip: a text comes out as it went in, and is packed alike each time; a damaged pack gives a part of it at the most.
func TestRoundTrip(t *testing.T) {
	for _, text := range []string{"", "a", "α\tβ\n" + string(bytes.Repeat([]byte("row\t1\n"), 10_000))} {
		pack := Pack(text)
		if got := Unpack(pack); got != text || !bytes.Equal(pack, Pack(text)) {
			t.Errorf("%d bytes come out as %d", len(text), len(got))
		}
		if got := Unpack(pack[:len(pack)/2]); len(got) > len(text) || text[:len(got)] != got {
			t.Errorf("half a pack of %d bytes gives %d", len(text), len(got))
		}
	}
	if got := Unpack([]byte("no pack")); got != "" {
		t.Errorf("what is no pack gives %q", got)
	}
}
