package source

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model/catalog"
)

// packed is any bytes as a reference, whatever they are.
func packed(text []byte) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write(text)
	_ = w.Close()
	return Inlined + base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// TestInline: every config.json of the catalog, written out as a reference, is the same network, and short enough for an
// address.
func TestInline(t *testing.T) {
	s := Inline{Rest: memwall.Catalog{}}
	longest := 0
	for _, e := range catalog.All() {
		ref, err := Reference(e.Config)
		if err != nil {
			t.Fatal(e.ID, err)
		}
		longest = max(longest, len(ref))
		got, err := s.Model(ref)
		if err != nil {
			t.Errorf("%s: %v", e.ID, err)
			continue
		}
		want, err := Config(e.ID, e.Config)
		if err != nil {
			t.Fatal(e.ID, err)
		}
		if got.Model.Params() != want.Model.Params() || got.Recipe != want.Recipe {
			t.Errorf("%s: %d parameters in %q", e.ID, got.Model.Params(), got.Recipe)
		}
		if again, err := New(Options{}).Model(ref); err != nil || again.Model.Params() != want.Model.Params() {
			t.Errorf("%s among files: %v", e.ID, err)
		}
	}
	t.Logf("the longest of %d has %d letters", len(catalog.All()), longest)
	if longest > 8<<10 {
		t.Errorf("%d letters", longest)
	}
	if r, err := s.Model("llama-3.1-8b"); err != nil || r.ID != "llama-3.1-8b" {
		t.Error("the other source is not asked")
	}
}

// TestReferenceIsCanonical: blanks make no difference.
func TestReferenceIsCanonical(t *testing.T) {
	a, err := Reference([]byte("{\"model_type\": \"llama\",\n \"rope_theta\": 500000.0}"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Reference([]byte(`{"model_type":"llama","rope_theta":500000.0}`))
	if err != nil || a != b {
		t.Errorf("%s, %s, %v", a, b, err)
	}
}

// TestBadInline: each says what is wrong in the form of the contract; none takes memory in proportion to what it says.
func TestBadInline(t *testing.T) {
	whole := packed(catalog.All()[0].Config)
	bomb := packed(bytes.Repeat([]byte(" "), 64<<20))
	for _, c := range []struct{ ref, says string }{
		{"config:", "does not unpack"},
		{"config:!!!", "base64url"},
		{whole[:len(whole)/2], "part of the address"},
		{packed([]byte("no JSON")), "config.json"},
		{packed([]byte("[]")), "config.json"},
		{packed([]byte(`{"model_type":"nosuch","architectures":["NoSuch"]}`)), "NoSuch"},
		{packed([]byte(strings.Repeat("[", 100_000))), "config.json"},
		{bomb, "more than 1048576"},
		{Inlined + strings.Repeat("A", mostPacked), "letters"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := (Inline{Rest: memwall.Catalog{}}).Model(c.ref)
		runtime.ReadMemStats(&after)
		var e *memwall.Error
		if !errors.As(memwall.AsError(err), &e) || e.Code == memwall.Internal || !strings.Contains(e.Message, c.says) {
			t.Errorf("%.40s: %v", c.ref, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%.40s takes %d bytes", c.ref, took)
		}
	}
	for _, text := range []string{"", "[1]", `{"a":`, strings.Repeat("x", maxInline+1)} {
		if _, err := Reference([]byte(text)); err == nil {
			t.Errorf("%.20q became a reference", text)
		}
	}
}

func FuzzInline(f *testing.F) {
	f.Add(packed(catalog.All()[0].Config))
	f.Add("config:eJw")
	f.Fuzz(func(_ *testing.T, ref string) {
		_, _ = (Inline{Rest: memwall.Catalog{}}).Model(Inlined + strings.TrimPrefix(ref, Inlined))
	})
}
