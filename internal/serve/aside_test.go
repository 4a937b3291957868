package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
)

// away does what another process does: it has the name of a task, and what it is asked and gives is JSON.
type away struct {
	desk.Aside
	asked int
}

func (a *away) Do(ctx context.Context, task string, in any, _ time.Duration, out any) error {
	a.asked++
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	made, err := Tasks()[task](ctx, new(memwall.Asker), text)
	if err != nil {
		return err
	}
	if text, err = json.Marshal(made); err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// TestAsideSame: pages and operations are the same to the letter, whether this process or another makes them.
func TestAsideSame(t *testing.T) {
	other := new(away)
	here, there := server(t, nil), server(t, func(o *Options) { o.Desk = desk.New(desk.Options{Aside: other}) })
	for i, a := range []asked{
		{method: http.MethodGet, path: "/plan?m=qwen3-32b&on=rtx-4090&ctx=32k&weights=q4_k_m"},
		{method: http.MethodGet, path: "/pack?on=4xh100&models=llama-3.1-8b"},
		{method: http.MethodGet, path: "/plan?m=%ff&on=rtx-4090"},
		{method: http.MethodGet, path: "/models/qwen3-32b"},
		{path: "/v1/autoscale", body: scaled},
		{path: "/v1/pack", body: `{"hardware":"4xh100","models":[]}`},
		{path: "/v1/pack", body: "\xff"},
	} {
		want, got := do(here, a), do(there, a)
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s %s: %d %.300s, not %d %.300s", a.method, a.path, got.Code, got.Body, want.Code, want.Body)
		}
		if other.asked != i+1 {
			t.Errorf("%s %s was answered here", a.method, a.path)
		}
	}
}
