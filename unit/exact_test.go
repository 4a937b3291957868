package unit

import "testing"

// TestExact: every size is read back as it was.
func TestExact(t *testing.T) {
	for b, want := range map[Bytes]string{9 * GiB: "9GiB", 1536 * MiB: "1536MiB", 3 * KiB: "3KiB", 1001: "1001", 0: "0"} {
		if got := Exact(b); got != want {
			t.Errorf("%d: %s, want %s", int64(b), got, want)
		}
		if back, err := ParseBytes(Exact(b)); err != nil || back != b {
			t.Errorf("%s is read as %d, %v", Exact(b), int64(back), err)
		}
	}
}
