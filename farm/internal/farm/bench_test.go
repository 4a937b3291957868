package farm

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/memwall/memwall"
)

// BenchmarkTask is what the queue costs: tasks that take no time themselves. allocs and ns are of a task.
func BenchmarkTask(b *testing.B) {
	s, conn, err := (&Own{Folder: b.TempDir()}).Start(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	defer conn.Close()
	f, err := Open(b.Context(), conn, Settings{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	none := func(_ context.Context, r *memwall.Request) (*memwall.Answer, error) {
		return nil, &memwall.Error{Code: memwall.Limit, Message: "none"}
	}
	go func() { _ = f.Work(ctx, &Worker{Name: "w", Tables: here, Slots: 2, Ask: none}) }()
	text := fmt.Sprintf("ask: sim\nmodels: llama-3.1-8b\nhardware: h100\nseeds: 1..%d\n", b.N)
	sweep := begun(b, f, text, filepath.Join(b.TempDir(), "a.db"))
	sweep.Ask = none
	b.ResetTimer()
	if _, err := sweep.Run(ctx); err != nil {
		b.Fatal(err)
	}
}
