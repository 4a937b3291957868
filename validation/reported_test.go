package validation

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/speed/serving"
)

// TestOldestMeasured: the oldest versions of which serving says that runs were measured are those of the rows.
func TestOldestMeasured(t *testing.T) {
	sets, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]engine.Version{}
	for i := range sets {
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			name, v := engineOf(r)
			if sets[i].Name != "serving" || !r.Fit || r.Refused != "" || v == (engine.Version{}) || serving.Early(name, v) {
				continue
			}
			if was, ok := first[name]; !ok || was.AtLeast(v) {
				first[name] = v
			}
		}
	}
	for _, name := range servers {
		if says, ok := serving.Oldest(name); !ok || says != first[name] {
			t.Errorf("serving says that %s was measured since %v, rows since %v", name, says, first[name])
		}
	}
}
