package admit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
)

func judge() *Judge {
	asker := &memwall.Asker{Models: memwall.Catalog{}}
	return &Judge{Ask: func(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
		return asker.AskContext(ctx, r)
	},
		Claims: map[string]string{"one-h100": "h100"}}
}

// behindTLS is a handler, as an API server reaches it.
func behindTLS(t *testing.T, h *Handler) (*http.Client, string) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	return s.Client(), s.URL
}

// asked sends a review as kube-apiserver 1.34 does, and reads what comes back.
func asked(t *testing.T, h *Handler, object string) *Response {
	t.Helper()
	client, url := behindTLS(t, h)
	review := fmt.Sprintf(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002",`+
		`"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},`+
		`"requestKind":{"group":"","version":"v1","kind":"Pod"},"requestResource":{"group":"","version":"v1","resource":"pods"},"name":"vllm",`+
		`"namespace":"default","operation":"CREATE","userInfo":{"username":"kubernetes-admin","groups":["system:masters"]},"object":%s,`+
		`"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}}`, object)
	answer, err := client.Post(url+"/admit?timeout=5s", "application/json", strings.NewReader(review))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	var out Review
	if err := json.Unmarshal(text, &out); err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s: %s", answer.Status, text)
	}
	if out.APIVersion != version || out.Kind != kind || out.Response == nil || out.Response.UID != "705ab4f5-6393-11e8-b7cc-42010a800002" {
		t.Fatalf("not the answer to this review: %s", text)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("a secret is said again: %s", text)
	}
	return out.Response
}

// pod of vLLM with a model, on so many GPUs, and more of its spec.
func pod(model, resource string, gpus int, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"vllm","annotations":{"x":"hunter2"}},"spec":{"containers":[{"name":"vllm",`+
		`"image":"vllm/vllm-openai:v0.24.0","args":["--model","%s","--max-model-len","8192","--tensor-parallel-size","%d","--api-key","hunter2"],`+
		`"env":[{"name":"HF_TOKEN","value":"hunter2"},{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],`+
		`"resources":{"limits":{"%s":"%d"},"claims":[{"name":"gpu"}]}}]%s}}`, model, gpus, resource, gpus, more)
}

const (
	small, large = "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-70B-Instruct"
	gpu          = "nvidia.com/gpu"
	onH100       = `,"nodeSelector":{"nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3"}`
)

func TestReviews(t *testing.T) {
	among := func(values string) string {
		return `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":` +
			`[{"key":"nvidia.com/gpu.product","operator":"In","values":[` + values + `]}]}]}}}`
	}
	template := func(kind, before, after string) string {
		return fmt.Sprintf(`{"kind":"%s","metadata":{"name":"x"},"spec":%s{"spec":{"containers":[{"name":"a","image":"vllm/vllm-openai:v0.24.0",`+
			`"args":["--model","%s"],"resources":{"limits":{"nvidia.com/gpu":1}}}]%s}}%s}`, kind, before, large, onH100, after)
	}
	for name, c := range map[string]struct {
		object  string
		refused string // "" is let in
		warned  string
	}{
		"fits":                 {pod(small, gpu, 1, onH100), "", ""},
		"does not fit":         {pod(large, gpu, 1, onH100), "container vllm: Llama 3.1 70B on 1 × H100 SXM 80GB does not fit", ""},
		"fits on four":         {pod(large, gpu, 4, onH100), "", ""},
		"a shared GPU's label": {pod(large, gpu, 1, strings.Replace(onH100, "HBM3", "HBM3-SHARED", 1)), "does not fit", ""},
		"GKE's label":          {pod(large, gpu, 1, `,"nodeSelector":{"cloud.google.com/gke-accelerator":"nvidia-l4"}`), "1 × L4", ""},
		"fits on one of two":   {pod(small, gpu, 1, among(`"Tesla-T4","NVIDIA-H100-80GB-HBM3"`)), "", "T4"},
		"fits on none of two":  {pod(large, gpu, 1, among(`"NVIDIA-A10","NVIDIA-H100-80GB-HBM3"`)), "does not fit", ""},
		"a part of a GPU":      {pod(small, "nvidia.com/mig-1g.10gb", 1, onH100), "MIG 1g.10gb does not fit", ""},
		"a claim":              {pod(large, "cpu", 1, `,"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"one-h100"}]`), "1 × H100", ""},
		"a claim nobody knows": {pod(large, "cpu", 1, `,"resourceClaims":[{"name":"gpu","resourceClaimName":"x"}]`), "", "which GPU is not said"},
		"no product":           {pod(large, gpu, 1, ""), "", "which GPU is not said"},
		"a model nobody knows": {pod("me/my-model", gpu, 1, onH100), "", "not in the catalog"},
		"a drafter nobody knows": {strings.Replace(pod(small, gpu, 1, onH100), `"--model"`,
			`"--speculative-config","{\"model\":\"me/drafter\",\"num_speculative_tokens\":3}","--model"`, 1), "", "the draft model is not in the catalog"},
		"a name that holds another": {pod("me/Llama-3.1-70B-Instruct-of-mine", gpu, 1, onH100), "", "not certain"},
		"a file that is not opened": {pod("/etc/passwd", gpu, 1, onH100), "", "not in the catalog"},
		"a GPU nobody knows":        {pod(small, gpu, 1, strings.Replace(onH100, "H100", "Z999", 1)), "", "hardware is not in the catalog"},
		"no engine":                 {`{"kind":"Pod","spec":{"containers":[{"name":"web","image":"nginx"}]}}`, "", ""},
		"left out":                  {strings.Replace(pod(large, gpu, 1, onH100), `"x":"hunter2"`, `"memwall/admit":"skip"`, 1), "", ""},
		"a deployment":              {template("Deployment", `{"template":`, "}"), "does not fit", ""},
		"a schedule":                {template("CronJob", `{"jobTemplate":{"spec":{"template":`, "}}}"), "does not fit", ""},
		"a group":                   {template("LeaderWorkerSet", `{"leaderWorkerTemplate":{"size":2,"workerTemplate":`, "}}"), "does not fit", ""},
		"no object of its kind":     {`{"spec":{"containers":7}}`, "", "not read"},
		"nested without end":        {`{"spec":` + strings.Repeat(`{"spec":`, 3000) + "1" + strings.Repeat("}", 3001), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHandler(judge(), 20*time.Second, 2)
			out := asked(t, h, c.object)
			message := ""
			if out.Status != nil {
				message = out.Status.Message
			}
			if out.Allowed != (c.refused == "") || !strings.Contains(message, c.refused) {
				t.Errorf("allowed %v, %q, where %q was expected", out.Allowed, message, c.refused)
			}
			warnings := strings.Join(out.Warnings, "\n")
			if (c.warned == "") != (warnings == "") || !strings.Contains(warnings, c.warned) {
				t.Errorf("warned %q, where %q was expected", warnings, c.warned)
			}
			for _, w := range out.Warnings {
				if len(w) > longestWarning {
					t.Errorf("a warning of %d bytes", len(w))
				}
			}
			if c.refused != "" {
				j := judge()
				j.Warn = true
				if out := asked(t, NewHandler(j, 20*time.Second, 2), c.object); !out.Allowed || len(out.Warnings) == 0 {
					t.Errorf("--warn: %+v", out)
				}
			}
		})
	}
}

// A refusal names what would fit, and that does.
func TestTheFixFits(t *testing.T) {
	out := asked(t, NewHandler(judge(), 20*time.Second, 2), pod(large, gpu, 1, onH100))
	if out.Status == nil || out.Status.Code != 403 || !strings.Contains(out.Status.Message, "Fits with: ") {
		t.Fatalf("%+v", out.Status)
	}
	t.Log(out.Status.Message)
}

func TestWhoIsNoAPIServer(t *testing.T) {
	h := NewHandler(judge(), time.Second, 2)
	client, url := behindTLS(t, h)
	review := func(version, kind, request string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"request":%s}`, version, kind, request)
	}
	for name, c := range map[string]struct {
		method, media string
		body          io.Reader
		status        int
		says          string
	}{
		"another version": {"POST", "application/json", strings.NewReader(review("admission.k8s.io/v1beta1", kind, `{"uid":"1"}`)), 400,
			"admissionReviewVersions: [v1]"},
		"another kind": {"POST", "application/json", strings.NewReader(review(version, "ConversionReview", `{"uid":"1"}`)), 400,
			`a "ConversionReview" is not an AdmissionReview`},
		"no uid":         {"POST", "application/json", strings.NewReader(review(version, kind, `{}`)), 400, "no request with a uid"},
		"no request":     {"POST", "application/json", strings.NewReader(review(version, kind, "null")), 400, "no request with a uid"},
		"no JSON":        {"POST", "application/json", strings.NewReader("<xml>"), 400, "not a JSON AdmissionReview"},
		"nothing":        {"POST", "application/json", strings.NewReader(""), 400, "not a JSON AdmissionReview"},
		"a form":         {"POST", "application/x-www-form-urlencoded", strings.NewReader("a=b"), 415, "application/json"},
		"a page's visit": {"GET", "", nil, 405, "by POST"},
		"100 MB":         {"POST", "application/json", bytes.NewReader(make([]byte, 100<<20)), 413, "8 MiB"},
		"100 MB whose length is not said": {"POST", "application/json; charset=utf-8", io.MultiReader(bytes.NewReader(make([]byte, 100<<20))), 413,
			"8 MiB"},
	} {
		r, err := http.NewRequest(c.method, url, c.body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", c.media)
		answer, err := client.Do(r)
		if err != nil { // who still sends may see the connection end before it reads why
			if !strings.Contains(name, "100 MB") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || !strings.Contains(string(text), c.says) || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: %s: %q, where %d and %q were expected", name, answer.Status, text, c.status, c.says)
		}
	}
}

// Too large is 413 whichever way it is sent.
func TestTooLarge(t *testing.T) {
	h := NewHandler(judge(), time.Second, 2)
	for _, length := range []int64{100 << 20, -1} {
		r := httptest.NewRequest("POST", "/admit", io.LimitReader(endless{}, 100<<20))
		r.ContentLength = length
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 413 {
			t.Errorf("100 MB are answered with %d: %s", w.Code, w.Body)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestItFailsOpen(t *testing.T) {
	blocked, done := judge(), make(chan struct{})
	blocked.Ask = func(context.Context, *memwall.Request) (*memwall.Answer, error) { <-done; return nil, context.Canceled }
	h := NewHandler(blocked, 50*time.Millisecond, 1)
	began := time.Now()
	for range 3 { // the second and third do not even get their turn
		out := asked(t, h, pod(large, gpu, 1, onH100))
		if !out.Allowed || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "not judged in time") {
			t.Errorf("%+v", out)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("three answers took %v", took)
	}
	close(done)
	broken := judge()
	broken.Ask = func(context.Context, *memwall.Request) (*memwall.Answer, error) { panic("hunter2") }
	if out := asked(t, NewHandler(broken, time.Second, 1), pod(large, gpu, 1, onH100)); !out.Allowed || len(out.Warnings) != 1 {
		t.Errorf("%+v", out)
	}
}

func TestOtherOperations(t *testing.T) {
	h := NewHandler(judge(), time.Second, 1)
	for _, r := range []*Request{{UID: "1", Operation: "DELETE", Object: json.RawMessage(pod(large, gpu, 1, onH100))},
		{UID: "1", Operation: "CREATE", SubResource: "exec", Object: json.RawMessage("{}")}, {UID: "1", Operation: "CREATE"}} {
		if out := h.answer(context.Background(), r); !out.Allowed || out.outcome != "allowed" {
			t.Errorf("%+v: %+v", r, out)
		}
	}
}

func FuzzReview(f *testing.F) {
	f.Add(pod(small, gpu, 1, onH100))
	f.Add(`{"spec":{"template":null}}`)
	j := judge()
	f.Fuzz(func(t *testing.T, object string) {
		if out := j.judge(context.Background(), json.RawMessage(object)); out == nil {
			t.Error("no judgement")
		}
	})
}
