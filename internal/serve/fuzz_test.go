package serve

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall/internal/desk"
)

// FuzzAsk: whatever the body, the answer is one, or a problem that is the client's.
func FuzzAsk(f *testing.F) {
	for _, body := range []string{
		fitBody, `{"model":"llama-3.1-70b","hardware":"2xh100","tp":2,"sequences":4}`, `{"model":"qwen3-30b-a3b","weights":"q4_k_m","hardware":"rtx-4090+rtx-3060","cpu_moe":15,"kv":"q8_0"}`,
		`{"model":"deepseek-v3","hardware":"8xh200","engine":"sglang","ep":8,"explain":true}`, `{"model":"llama-3.1-8b","hardware":"name=x,memory=24GiB,bandwidth=1TB/s"}`,
		`{"model":"llama-3.1-8b","override":{"kv_heads":1},"draft_model":"llama-3.2-1b","draft_tokens":4,"acceptance":0.7}`, `{"model":"llama-3.1-8b","also":[{"ask":"fit","model":"qwen3-8b"}]}`,
		`{"model":"llama-3.1-8b","method":"qlora","hardware":"rtx-4090","sequence_length":4096}`, `{"text":"CUDA out of memory. Tried to allocate 3.91 GiB."}`, `{"model":"a","change":{"weights":null}}`, "{\"model\":\"\xff\"}",
	} {
		for i := range uint8(5) {
			f.Add(i, body)
		}
	}
	s := server(f, func(o *Options) {
		o.Fixed, o.Desk = false, desk.New(desk.Options{Limit: time.Second, Patience: time.Minute})
	})
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		path := "/v1/" + []string{"fit", "train", "diff", "diagnose", "compare"}[int(which)%5]
		w := do(s, asked{path: path, body: body})
		switch {
		case w.Code >= 500:
			t.Errorf("%s %q: status %d: %s", path, body, w.Code, w.Body)
		case w.Code == 200 && !json.Valid(w.Body.Bytes()):
			t.Errorf("%s %q: no JSON: %.200s", path, body, w.Body)
		case w.Code != 200 && w.Code != 429:
			if p := problemIn(t, w); p.Field == "" {
				t.Errorf("%s %q: no field: %s", path, body, w.Body)
			}
		}
		for _, inside := range []string{"goroutine ", ".go:", "/root/", "runtime error"} {
			if strings.Contains(w.Body.String(), inside) && !strings.Contains(body, inside) {
				t.Errorf("%s %q tells %q: %.300s", path, body, inside, w.Body)
			}
		}
	})
}
