package sparse_test

import (
	"io"
	"testing"
	"testing/iotest"

	"github.com/memwall/memwall/format/internal/sparse"
)

func TestFile(t *testing.T) {
	for _, f := range []*sparse.File{{Head: []byte("head"), Len: 9}, {Head: []byte("head"), Len: 3}, {Len: 4}, {}} {
		want := append([]byte(nil), f.Head[:min(int64(len(f.Head)), f.Len)]...)
		want = append(want, make([]byte, f.Len-int64(len(want)))...)
		if err := iotest.TestReader(io.NewSectionReader(f, 0, f.Len), want); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
