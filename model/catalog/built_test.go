package catalog

import (
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// What is remembered is what reading the row again gives, and all who ask at once get the same.
func TestBuilt(t *testing.T) {
	recipes := []*dtype.Recipe{dtype.FindRecipe("bf16"), dtype.FindRecipe("q4_k_m"), dtype.FindRecipe("awq")}
	for _, e := range All()[:60] {
		var asked sync.WaitGroup
		var got [4]*Network
		for i := range got {
			asked.Go(func() {
				n, err := Built(e.ID)
				if err != nil {
					t.Error(e.ID, err)
					return
				}
				got[i] = n
				for _, r := range recipes {
					n.Stored(r)
				}
			})
		}
		asked.Wait()
		s, err := e.Spec()
		if err != nil {
			t.Fatal(e.ID, err)
		}
		m := s.Model(e.ID)
		for _, n := range got {
			if n != got[0] || !reflect.DeepEqual(n.Entry, &e) || n.Drafts != s.Drafts() || !reflect.DeepEqual(n.Model, m) {
				t.Fatalf("%s: another network than its row describes", e.ID)
			}
			for _, r := range recipes {
				if have, want := n.Stored(r), m.Store(r).Bytes(); have != want {
					t.Errorf("%s in %s: %d bytes, want %d", e.ID, r.Name, have, want)
				}
			}
		}
		if r := Released(e.ID); r != e.Released {
			t.Errorf("%s: released %q, want %q", e.ID, r, e.Released)
		}
	}
	if n, err := Built("none"); err == nil || n != nil || Released("none") != "" {
		t.Error("a network of no entry")
	}
}

// The whole catalog is small enough to be kept by a server.
func TestBuiltIsSmall(t *testing.T) {
	const most = 12 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, id := range IDs() {
		if _, err := Built(id); err != nil {
			t.Error(id, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > most {
		t.Errorf("%d bytes are kept, over %d", kept, most)
	} else {
		t.Logf("%d KiB are kept", kept>>10)
	}
}
