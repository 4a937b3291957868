package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/pack"
)

const scaled = `{"request":{"model":"llama-3.1-8b","hardware":"h100","workload":{"prompt":{"mean":1500},"output":{"mean":300}},` +
	`"goal":{"ttft_ms":{"p99":1000}}},"requests_per_s":[2,2,9,30,20,9],"policies":["fixed:3","ceil(rate / holds)"],"attainment":0.9}`

// TestOperations: a day on autoscalers and models on a pool are answered over HTTP as on the command line, and what is wrong is told with
// its field.
func TestOperations(t *testing.T) {
	s := server(t, nil)
	post := func(path, body string) (int, string) {
		w := do(s, asked{method: http.MethodPost, path: path, body: body})
		return w.Code, w.Body.String()
	}
	var report autoscale.ScalingReport
	if code, text := post("/v1/autoscale", scaled); code != http.StatusOK || json.Unmarshal([]byte(text), &report) != nil ||
		len(report.Policies) != 2 || report.Oracle == nil || !report.Policies[0].Met {
		t.Errorf("%d %.300s", code, text)
	}
	var packing pack.Packing
	code, text := post("/v1/pack", `{"hardware":"4xh100","models":[{"request":{"model":"llama-3.1-70b","weights":"fp8","tp":2}},`+
		`{"request":{"model":"qwen3-8b"},"count":3}]}`)
	if code != http.StatusOK || json.Unmarshal([]byte(text), &packing) != nil || packing.Used != 3 || len(packing.Unplaced) != 0 {
		t.Errorf("%d %.300s", code, text)
	}
	for body, want := range map[string]string{
		`/v1/autoscale {"request":{}`:                                                                                 `"field":"body"`,
		`/v1/autoscale {"load":[1]}`:                                                                                  `unknown field`,
		`/v1/autoscale {"requests_per_s":[1,2]}`:                                                                      `"field":"request"`,
		`/v1/autoscale {"requests_per_s":"1,2"}`:                                                                      `"field":"requests_per_s"`,
		`/v1/autoscale {"request":{"model":"x","hardware":"h100"},"requests_per_s":[1]}`:                              `"field":"requests_per_s"`,
		`/v1/autoscale ` + strings.Replace(scaled, "[2,2,", "[2,-2,", 1):                                              `is negative`,
		`/v1/autoscale ` + strings.Replace(scaled, `"attainment":0.9`, `"max_replicas":-1`, 1):                        `"field":"max_replicas"`,
		`/v1/autoscale ` + strings.Replace(scaled, `"attainment":0.9`, `"metrics_every_s":1e9`, 1):                    `"field":"metrics_every_s"`,
		`/v1/autoscale ` + strings.Replace(scaled, `"ceil(rate / holds)"`, `"ceil(`+strings.Repeat("(", 5000)+`"`, 1): `"field":"policy"`,
		`/v1/pack {"hardware":"4xh100","models":[]}`:                                                                  `"field":"models"`,
		`/v1/pack {}`: `"field":"models"`,
		`/v1/pack {"hardware":"nonsense","models":[{"request":{"model":"qwen3-8b"}}]}`:                  `"field":"hardware"`,
		`/v1/pack {"hardware":"rtx-4090","mig":true,"models":[{"request":{"model":"qwen3-8b"}}]}`:       `not cut into parts`,
		`/v1/pack {"hardware":"4xh100","models":[{"request":{"model":"qwen3-8b"},"count":1000000000}]}`: `"field":"models[0].count"`,
		`/v1/pack {"hardware":"4xh100","models":[{"request":{"model":"qwen3-8b","hardware":"h100"}}]}`:  `"field":"models[0]"`,
		`/v1/pack {"hardware":"4xh100","models":[{"request":{"model":"qwen3-8b","contxt":1}}]}`:         `models[0].request`,
	} {
		path, rest, _ := strings.Cut(body, " ")
		if code, text := post(path, rest); code < 400 || code >= 500 || !strings.Contains(text, want) {
			t.Errorf("%.120s: %d %.300s", body, code, text)
		}
	}
}
