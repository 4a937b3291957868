// Package admit is a validating admission webhook for Kubernetes: the API server asks it about each pod to be created,
// and it checks that the launch line in the pod fits the GPUs the pod requests.
//
// It fails open: what it does not understand, does not know or has no time for is admitted with a warning; what is
// certain not to fit is rejected with a fix. Nothing of a pod is logged or repeated except the name of its container, a
// catalog model and hardware.
//
// See review.go for requests and responses, pod.go for how a pod becomes a plan, server.go for TLS, manifests.go for
// installation.
package admit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// Review is an AdmissionReview, of which only this is read (k8s.io/api/admission/v1, types.go).
type Review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *Request  `json:"request,omitempty"`
	Response   *Response `json:"response,omitempty"`
}

// Request is what is to be done.
type Request struct {
	UID         string          `json:"uid"`
	Operation   string          `json:"operation"`
	SubResource string          `json:"subResource"`
	Object      json.RawMessage `json:"object"`
}

// Response lets it be done, or says why not.
type Response struct {
	UID      string   `json:"uid"`
	Allowed  bool     `json:"allowed"`
	Status   *Status  `json:"status,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Status is why something is refused.
type Status struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

const (
	version = "admission.k8s.io/v1"
	kind    = "AdmissionReview"
)

// mostBody bounds a review: an API server takes objects of 1.5 MB at most, and an update brings two.
const mostBody = 8 << 20

// longestWarning that an API server shows in full; of several, 4,096 bytes in all.
const longestWarning, mostWarnings = 256, 8

// Handler answers reviews.
type Handler struct {
	Judge *Judge
	// Deadline is when an answer without a judgement is given; it lies before the API server's own.
	Deadline time.Duration
	// Log is told how each review ended; nil tells nobody.
	Log func(entry Entry)
	// turns bounds how many are judged at once.
	turns chan struct{}
}

// Entry of the log: nothing in it is of the pod.
type Entry struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status"`
	Outcome string    `json:"outcome"` // allowed, warned, refused, unjudged, bad
	MS      float64   `json:"ms"`
}

// NewHandler with as many judgements at once as it may take.
func NewHandler(j *Judge, deadline time.Duration, atOnce int) *Handler {
	return &Handler{Judge: j, Deadline: deadline, turns: make(chan struct{}, atOnce)}
}

// ServeHTTP answers a review; errors of whoever asks are those of HTTP, in one line.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	status, outcome := h.serve(w, r)
	if h.Log != nil {
		h.Log(Entry{began.UTC(), status, outcome, float64(time.Since(began).Microseconds()) / 1000})
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (status int, outcome string) {
	bad := func(code int, format string, args ...any) (int, string) {
		w.Header().Set("Connection", "close")
		http.Error(w, "memwall admit: "+fmt.Sprintf(format, args...), code)
		return code, "bad"
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return bad(http.StatusMethodNotAllowed, "a review is sent by POST")
	case media != "application/json":
		return bad(http.StatusUnsupportedMediaType, "a review is application/json")
	case r.ContentLength > mostBody:
		return bad(http.StatusRequestEntityTooLarge, "a review has 8 MiB at most")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return bad(http.StatusRequestEntityTooLarge, "a review has 8 MiB at most")
		}
		return bad(http.StatusBadRequest, "the review ended before its time")
	}
	var review Review
	if err := json.Unmarshal(body, &review); err != nil {
		return bad(http.StatusBadRequest, "the body is not a JSON AdmissionReview")
	}
	if why := unread(&review); why != "" {
		return bad(http.StatusBadRequest, "%s", why)
	}
	out := h.answer(r.Context(), review.Request)
	text, err := json.Marshal(Review{APIVersion: version, Kind: kind, Response: out.Response})
	if err != nil {
		return bad(http.StatusInternalServerError, "the answer cannot be written")
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(bytes.TrimSpace(text), '\n')) // who has left is not told
	return http.StatusOK, out.outcome
}

// unread says why a review is none that is read here; "" where it is.
func unread(r *Review) string {
	switch {
	case r.Kind != kind:
		return fmt.Sprintf("a %.40q is not an %s", r.Kind, kind)
	case r.APIVersion != version:
		return fmt.Sprintf("reviews are read as %s, not as %.40q: admissionReviewVersions: [v1]", version, r.APIVersion)
	case r.Request == nil || r.Request.UID == "" || len(r.Request.UID) > 128:
		return "the review has no request with a uid"
	}
	return ""
}

// answered is a response and what became of the review.
type answered struct {
	*Response
	outcome string
}

// answer judges a request for as long as there is time.
func (h *Handler) answer(ctx context.Context, r *Request) answered {
	out := &Response{UID: r.UID, Allowed: true}
	if r.SubResource != "" || r.Operation != "CREATE" && r.Operation != "UPDATE" || len(r.Object) == 0 {
		return answered{out, "allowed"}
	}
	ctx, stop := context.WithTimeout(ctx, h.Deadline)
	defer stop()
	judged := make(chan *Judgement, 1)
	select {
	case h.turns <- struct{}{}:
		go func() {
			defer func() { <-h.turns }()
			judged <- h.Judge.judge(ctx, r.Object)
		}()
	case <-ctx.Done():
	}
	select {
	case j := <-judged:
		return respond(out, j)
	case <-ctx.Done():
		out.Warnings = []string{"memwall: not judged in time, let in"}
		return answered{out, "unjudged"}
	}
}

func respond(out *Response, j *Judgement) answered {
	for _, w := range j.Warnings[:min(len(j.Warnings), mostWarnings)] {
		out.Warnings = append(out.Warnings, cut("memwall: "+w, longestWarning))
	}
	switch {
	case j.Refused != "":
		out.Allowed = false
		out.Status = &Status{Code: http.StatusForbidden, Reason: "Forbidden", Message: "memwall: " + j.Refused}
		return answered{out, "refused"}
	case len(j.Warnings) > 0:
		return answered{out, "warned"}
	}
	return answered{out, "allowed"}
}

// cut a text to bytes, at a letter's end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n -= len("…"); n > 0 && s[n]&0xc0 == 0x80; n-- {
	}
	return s[:n] + "…"
}
