package card

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
)

// TestNewModelOfEachRow: a row of the catalog, given as a config.json, comes back as a row that says it is known,
// with its own count of parameters and no count in the check.
func TestNewModelOfEachRow(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3.2", "gemma-3-27b", "jamba-v0.1", "whisper-base", "qwen3-30b-a3b"} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		n, err := NewModelOf(e.Hub, e.Config)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		var got catalog.Entry
		if err := json.Unmarshal([]byte(n.Row), &got); err != nil || got.Hub != e.Hub || got.Source != e.Hub+" config.json" {
			t.Errorf("%s: %s, %v", id, n.Row, err)
		}
		s, err := got.Spec()
		if err != nil || s.Model(id).Params() != n.Parameters {
			t.Errorf("%s: %d parameters, %v", id, n.Parameters, err)
		}
		if !strings.HasSuffix(n.Check, `"got":{"parameters":null}}`) || len(n.Empty) != 1 || n.Empty[0] != "released" {
			t.Errorf("%s: %s, empty %v", id, n.Check, n.Empty)
		}
		if e.Weights == "" && !strings.Contains(strings.Join(n.Notes, "\n"), "the same network as ") {
			t.Errorf("%s is new: %v", id, n.Notes)
		}
	}
}

func TestNoNewModel(t *testing.T) {
	for _, bad := range []string{"", "[]", "null", "{}", strings.Repeat(" ", 9<<20), `{"architectures":["X"]}`} {
		if n, err := NewModelOf("", []byte(bad)); err == nil {
			t.Errorf("%.20q adds %+v", bad, n)
		}
	}
}

func TestNewDevice(t *testing.T) {
	n, err := NewDeviceOf("name=rtx-4090,memory=24GiB,nvme=4TB")
	if err != nil || !strings.HasPrefix(n.Row, "rtx-4090\t") || len(n.Notes) != 2 {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := NewDeviceOf("rtx-4090"); err == nil {
		t.Errorf("%+v", n)
	}
}
