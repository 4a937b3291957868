package source

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/model"
)

// wrongMeta are values that a key of a GGUF file's metadata may be given by a broken tool or a bad mind.
var wrongMeta = map[string]gguftest.Value{
	"0": u(0), "2^32-1": gguftest.U32(1<<32 - 1), "2^62": gguftest.U64(1 << 62), "2^63": gguftest.U64(1 << 63), "-4": gguftest.I32(-4), "2.5": gguftest.F32(2.5), "text": gguftest.Str("x"),
	"truth": gguftest.Bool(true), "three": gguftest.Array[gguftest.U32]{1, 2, 3}, "none": gguftest.Array[gguftest.U32]{}, "a billion of each": gguftest.Array[gguftest.U32]{1 << 30, 1 << 30},
}

// shape is what a wrong value must not change in silence.
func shape(r *Resolved) string {
	var caches []model.Cache
	for i := range r.Model.Parts {
		r.Model.Parts[i].Each(func(k *model.Kind, n int64) {
			k.Caches(func(c model.Cache) {
				c.Scan = nil // an address
				caches = append(caches, c)
			})
		})
	}
	return fmt.Sprint(r.Model.Totals(), r.Model.ActiveParams(), r.Weights.Bytes(), caches)
}

// TestWrongMetadata: in a GGUF file of any family, a wrong value is refused with what to do and in bounded
// memory, or stands where it has no say. The tensors tell too: what the metadata makes of them must be there.
func TestWrongMetadata(t *testing.T) {
	refused := 0
	for i := range networks {
		n := &networks[i]
		r, _, err := readGGUF(t, n.file())
		if err != nil {
			t.Fatal(err)
		}
		was := shape(r)
		for key := range n.meta {
			for what, wrong := range wrongMeta {
				r, spent, err := readGGUF(t, replaced(n, key, wrong))
				if spent > 64<<20 {
					t.Errorf("%s: %s = %s takes %d bytes", n.name, key, what, spent)
				}
				if err == nil {
					// A window of any width is one, and tensors that are left over are said.
					if now := shape(r); now != was && !strings.Contains(key, "sliding_window") && len(r.Notes) == 0 {
						t.Errorf("%s: %s = %s is taken for another model\n%s\n%s", n.name, key, what, was, now)
					}
					continue
				}
				refused++
				checkBadFile(t, fmt.Sprintf("%s: %s = %s", n.name, key, what), err)
			}
		}
	}
	if refused < 500 {
		t.Errorf("only %d files were refused", refused)
	}
}

func checkBadFile(t *testing.T, what string, err error) {
	t.Helper()
	var e *memwall.Error
	if !errors.As(inFile("m.gguf", err), &e) || e.Code != memwall.BadFile || e.Field == "" || e.Hint == "" || !strings.HasPrefix(e.Message, "m.gguf: ") || len(e.Message) > 1000 {
		t.Errorf("%s: %+v", what, e)
	}
}

// replaced is the network's file with another value of one key.
func replaced(n *network, key string, v gguftest.Value) *gguftest.Builder {
	other := *n
	other.meta = map[string]gguftest.Value{}
	for k, old := range n.meta {
		other.meta[k] = old
	}
	other.meta[key] = v
	return other.file()
}

// readGGUF reads a file and says how many bytes were allocated for it.
func readGGUF(t *testing.T, b *gguftest.Builder) (r *Resolved, spent uint64, err error) {
	t.Helper()
	s := b.File()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := gguf.Read(s, s.Len)
	if err == nil {
		r, err = GGUF("m", f)
	}
	runtime.ReadMemStats(&after)
	return r, after.TotalAlloc - before.TotalAlloc, err
}

// TestLayersWithoutTensors: layers that are only claimed are refused before anything is made of them.
func TestLayersWithoutTensors(t *testing.T) {
	for _, layers := range []uint32{4096, 4097, 1 << 20, 1<<32 - 1} {
		b := gguftest.New("llama")
		for key, v := range networks[0].meta {
			if key != "block_count" {
				b.Set("llama."+key, v)
			}
		}
		b.Set("llama.block_count", gguftest.U32(layers))
		_, spent, err := readGGUF(t, b)
		var e *memwall.Error
		if !errors.As(err, &e) || e.Hint == "" || spent > 8<<20 {
			t.Errorf("%d layers and no tensors: %v, %d bytes", layers, err, spent)
		}
		_, spent, err = readGGUF(t, replaced(&networks[0], "block_count", gguftest.U32(layers)))
		if err == nil || spent > 64<<20 || !strings.Contains(err.Error(), "block_count") && !strings.Contains(err.Error(), "blk.2.") {
			t.Errorf("%d layers and tensors of two: %v, %d bytes", layers, err, spent)
		}
	}
}
