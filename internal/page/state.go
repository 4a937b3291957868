package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/load"
)

// A page is a question in a URL: /fit?m=llama-3.1-70b&on=2xh100&users=6. Fields go by their flags, defaults are omitted, and names
// are sorted, so that the same question has the same URL. Other keys control the display: "why" names the open number, "vs" lists
// pinned plans, and "was" records the answer of a shared link.
const (
	modelKey = "m"
	whyKey   = "why"
	askKey   = "ask"
	dragKey  = "drag"
	topicKey = "topic"
	besideAs = "vs"
)

// state is a parsed page URL.
type state struct {
	ask    string
	query  url.Values
	why    string
	beside []string
	was    *was   // the answer when the link was made
	paste  string // form contents that are not in a URL: a log
	drag   bool   // while dragging, only the answer and its picture are drawn
	one    bool   // single-page site: the question's name is in the query
	up     string // from the page to the site's folder
}

// mostParameters and mostLetters bound the contents of a URL.
const (
	mostParameters = 64
	mostLetters    = 16 << 10
	mostBeside     = 3
)

// keyOf returns the URL key of a field; "" if URLs do not carry it.
func keyOf(f *memwall.Field) string {
	if f.Name == "model" {
		return modelKey
	}
	return f.Flag
}

// readState parses the query of a URL. Parameters without a value count as absent.
func readState(ask, query string) (*state, error) {
	if len(query) > mostLetters {
		return nil, &memwall.Error{Code: memwall.Limit, Message: fmt.Sprintf("the address has %d letters of %d", len(query), mostLetters),
			Hint: "a shorter question"}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadField, Value: query, Message: "the address is not a query: " + err.Error(),
			Hint: "/fit?m=llama-3.1-8b&on=rtx-4090"}
	}
	if len(values) > mostParameters {
		return nil, &memwall.Error{Code: memwall.Limit, Message: fmt.Sprintf("the address has %d fields of %d", len(values),
			mostParameters), Hint: "fewer fields"}
	}
	s := &state{ask: ask, query: url.Values{}, why: values.Get(whyKey), drag: values.Has(dragKey), was: readWas(values.Get(wasKey))}
	for _, b := range values[besideAs] {
		if len(s.beside) < mostBeside && b != "" {
			s.beside = append(s.beside, b)
		}
	}
	for _, k := range []string{whyKey, besideAs, askKey, dragKey, wasKey} {
		values.Del(k)
	}
	for k, v := range values {
		for _, x := range v { // the last non-empty value
			if x != "" {
				s.query.Set(k, x)
			}
		}
	}
	return s, nil
}

// request returns the request that a state asks.
func (s *state) request() (*memwall.Request, error) {
	q := questionAt(s.ask)
	r := &memwall.Request{Ask: q.ask}
	if q.loads {
		if err := s.load(r); err != nil {
			return r, err
		}
	}
	for i := range memwall.Fields() {
		f := &memwall.Fields()[i]
		key := keyOf(f)
		if key == "" || !s.query.Has(key) || q.ask != "learn" && !f.OfAsk(q.ask) || q.loads && isLoad(key) {
			continue
		}
		if err := r.Set(f.Name, s.query.Get(key)); err != nil {
			return r, err
		}
	}
	return r, s.unknown(q)
}

// load parses the workload and its goal.
func (s *state) load(r *memwall.Request) error {
	var l load.Load
	words := l.Words()
	for i := range words {
		w := &words[i]
		if !s.query.Has(w.Name) {
			continue
		}
		if err := w.Set(s.query.Get(w.Name)); err != nil {
			return &memwall.Error{Code: memwall.BadField, Field: w.Name, Value: s.query.Get(w.Name), Message: w.Name + ": " + err.Error(),
				Hint: w.Hint("")}
		}
	}
	r.Workload, r.Goal, r.Disaggregated = &l.Spec, l.Goal, l.Disaggregated
	return nil
}

func isLoad(key string) bool {
	return slices.ContainsFunc((&load.Load{}).Words(), func(w load.Word) bool { return w.Name == key })
}

// unknown rejects keys that name no field.
func (s *state) unknown(q *question) error {
	for k := range s.query {
		if !slices.ContainsFunc(memwall.Fields(), func(f memwall.Field) bool { return keyOf(&f) == k }) && !(q.loads && isLoad(k)) &&
			!slices.Contains(q.own, k) {
			return &memwall.Error{Code: memwall.BadField, Field: k, Value: s.query.Get(k),
				Message: fmt.Sprintf("%q is not a field of a question", k), Hint: "leave it out"}
		}
	}
	return nil
}

// href returns the URL of the state.
func (s *state) href() string {
	q := url.Values{}
	for k, v := range s.query {
		q[k] = v
	}
	for _, b := range s.beside {
		q.Add(besideAs, b)
	}
	if s.why != "" {
		q.Set(whyKey, s.why)
	}
	path := "/" + s.ask
	if s.one {
		path = s.up
		q.Set(askKey, s.ask)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + strings.NewReplacer("%2C", ",", "%3A", ":", "%2F", "/").Replace(q.Encode())
}

// ownQuery returns the query of the question alone.
func (s *state) ownQuery() string { return s.query.Encode() }

// with returns the state with fields set; "" removes one.
func (s *state) with(pairs ...string) *state {
	out := &state{ask: s.ask, query: url.Values{}, beside: s.beside, one: s.one, up: s.up}
	for k, v := range s.query {
		out.query[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			out.query.Del(pairs[i])
		} else {
			out.query.Set(pairs[i], pairs[i+1])
		}
	}
	return out
}

// asking returns the same question for another page, without keys it does not know.
func (s *state) asking(ask string) *state {
	out := &state{ask: ask, query: url.Values{}, one: s.one, up: s.up}
	to := questionAt(ask)
	for k, v := range s.query {
		if to.knows(k) {
			out.query[k] = v
		}
	}
	return out
}

// knows reports whether a question has a field of that key.
func (q *question) knows(key string) bool {
	if q.loads && isLoad(key) || slices.Contains(q.own, key) {
		return true
	}
	return slices.ContainsFunc(memwall.Fields(), func(f memwall.Field) bool { return keyOf(&f) == key && f.OfAsk(q.ask) })
}

// Address returns where a site shows the answer to a request; false if a URL cannot express all of it, or there is no such page.
func Address(r *memwall.Request) (string, bool) {
	if questionAt(r.Ask) == nil {
		return "", false
	}
	change := memwall.Change(r)
	delete(change, "ask") // given by the path
	s, ok := (&state{ask: r.Ask}).with().patched(change)
	if !ok {
		return "", false
	}
	return s.href(), true
}

// patched returns the state after a change proposed by an answer; false if a URL cannot express it.
func (s *state) patched(patch map[string]any) (*state, bool) {
	out := s.with()
	for name, v := range patch {
		f := memwall.FieldByName(name)
		if f == nil || keyOf(f) == "" {
			return nil, false
		}
		if v == nil {
			out.query.Del(keyOf(f))
			continue
		}
		out.query.Set(keyOf(f), spelled(v))
	}
	return out, true
}

// spelled formats a value as URLs and flags do.
func spelled(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case []string:
		return strings.Join(x, ",")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var list []string
	if json.Unmarshal(data, &list) == nil {
		return strings.Join(list, ",")
	}
	return strings.Trim(string(data), `"`)
}

// carried returns what another question keeps of this one: all common fields if both are about serving plans, else the fields in
// its sentence.
func (s *state) carried(ask string) url.Values {
	serves := []string{"fit", "plan"}
	if ask == s.ask || slices.Contains(serves, ask) && slices.Contains(serves, s.ask) {
		return s.query
	}
	out := url.Values{}
	for _, key := range questionAt(ask).says {
		if s.query.Has(key) && !isLoad(key) {
			out.Set(key, s.query.Get(key))
		}
	}
	return out
}
