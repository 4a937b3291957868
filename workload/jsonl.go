package workload

import (
	"bytes"
	"strconv"
	"time"

	"github.com/memwall/memwall/fault"
)

// unread collects keys that a format does not know, to report misspellings.
type unread map[string]bool

func (u unread) add(key []byte) {
	const most = 16
	if !u[string(key)] && len(u) < most && len(key) < 100 {
		u[string(key)] = true
	}
}

// mooncake reads traces of Mooncake (arXiv:2407.00079) and similar ones: prompts are sequences of block ids, the last
// block possibly partial.
type mooncake struct {
	unread
	block int64 // tokens per block
}

func (m mooncake) fields() [3]string {
	return [3]string{"timestamp", "input_length", "output_length"}
}

func (m mooncake) read(line []byte, r *record) *fault.Error {
	var ids []byte
	f := keys(line, m.fields(), func(key, value []byte) (bit uint, reason Reason, fix string) {
		switch string(key) {
		case "timestamp":
			r.Arrival, reason = elapsed(value, time.Millisecond)
			r.timed = true
			return 1, reason, "milliseconds since the beginning"
		case "input_length":
			r.Prompt, reason = tokens(value)
			return 2, reason, wholeFix
		case "output_length":
			r.Output, reason = tokens(value)
			return 4, reason, wholeFix
		case "hash_ids":
			ids = value
			return 8, list(value), "a list of numbers, one for each block"
		}
		m.add(key)
		return 0, "", ""
	})
	if f != nil || len(ids) == 0 {
		return f
	}
	return m.spans(ids, r)
}

// spans converts blocks to spans. If there are fewer than fill the prompt, its end is unique; more are an error.
func (m mooncake) spans(ids []byte, r *record) *fault.Error {
	body := bytes.TrimSpace(ids[1 : len(ids)-1])
	if len(body) == 0 {
		return nil
	}
	n := int64(bytes.Count(body, []byte{','})) + 1
	if n > (r.Prompt+m.block-1)/m.block {
		return wrong("hash_ids", strconv.AppendInt(nil, n, 10), Mismatch,
			"as many as there are blocks of "+strconv.FormatInt(m.block, 10)+" tokens; reading.block_tokens says how long they are")
	}
	r.Spans = make([]Span, 0, n)
	for left := r.Prompt; len(r.Spans) < int(n); left -= m.block {
		id, rest, ok := nextID(body)
		if !ok {
			return wrong("hash_ids", body, NotWhole, "a list of numbers, one for each block")
		}
		r.Spans = append(r.Spans, Span{id, min(left, m.block)})
		body = rest
	}
	return nil
}

// nextID returns the next id of a list and the rest, after the comma and the space that most writers emit.
func nextID(body []byte) (id uint64, rest []byte, ok bool) {
	n, read := leading(body)
	if read > 0 && read < 18 && (read == len(body) || body[read] == ',') {
		rest = body[min(read+1, len(body)):]
		if len(rest) > 0 && rest[0] == ' ' {
			rest = rest[1:]
		}
		return uint64(n), rest, true
	}
	cell, rest, _ := bytes.Cut(body, []byte{','})
	id, ok = identity(bytes.TrimSpace(cell))
	return id, rest, ok
}

// identity parses a signed or unsigned 64-bit integer.
func identity(text []byte) (uint64, bool) {
	if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return uint64(n), err == nil
}

// ours reads memwall's own format: one request per line.
type ours struct{ unread }

func (o ours) fields() [3]string { return [3]string{"arrival_s", "prompt_tokens", "output_tokens"} }

func (o ours) read(line []byte, r *record) *fault.Error {
	var spans []byte
	prefix := Span{Tokens: -1}
	f := keys(line, o.fields(), func(key, value []byte) (bit uint, reason Reason, fix string) {
		switch string(key) {
		case "arrival_s":
			r.Arrival, reason = elapsed(value, time.Second)
			r.timed = true
			return 1, reason, "seconds since the beginning"
		case "prompt_tokens":
			r.Prompt, reason = tokens(value)
			return 2, reason, wholeFix
		case "output_tokens":
			r.Output, reason = tokens(value)
			return 4, reason, wholeFix
		case "prefix_id":
			prefix.ID = named(value)
			return 8, name(value), "a name or a number"
		case "prefix_tokens":
			prefix.Tokens, reason = tokens(value)
			return 16, reason, "how many tokens the prompt shares with others of that prefix_id"
		case "spans":
			spans = value
			return 32, list(value), "a list of [name, tokens]"
		}
		return o.rare(key, value, r)
	})
	switch {
	case f != nil:
		return f
	case len(spans) > 0:
		return ourSpans(spans, r)
	case prefix.Tokens > r.Prompt:
		return wrong("prefix_tokens", strconv.AppendInt(nil, prefix.Tokens, 10), Mismatch, "at most prompt_tokens")
	case prefix.Tokens > 0:
		r.Spans = []Span{prefix}
	case prefix.ID != 0 && prefix.Tokens < 0:
		return wrong("prefix_tokens", nil, Missing, "how many tokens the prompt shares with others of that prefix_id")
	}
	return nil
}

// rare parses keys that most traces lack.
func (o ours) rare(key, value []byte, r *record) (bit uint, reason Reason, fix string) {
	switch string(key) {
	case "own":
		r.Own = named(value)
		return 64, name(value), "a name or a number"
	case "session":
		r.User = named(value)
		return 128, name(value), "a name or a number"
	case "priority":
		n, err := strconv.ParseInt(string(value), 10, 32)
		if err != nil {
			reason = NotWhole
		}
		r.Priority = int32(n)
		return 256, reason, "a whole number; lower is served first"
	case "adapter":
		n, reason := tokens(value)
		r.Adapter = uint32(n)
		return 512, reason, "the number of an adapter, 0 for none"
	case "after":
		r.after = named(value)
		return 2048, name(value), "the own of a line before it"
	case "pause_s":
		r.pause, reason = elapsed(value, time.Second)
		return 4096, reason, "seconds between the answer that it follows and this request"
	case "patience_s":
		r.Patience, reason = elapsed(value, time.Second)
		return 1024, reason, "seconds after which the client hangs up"
	}
	o.add(key)
	return 0, "", ""
}

// ourSpans parses lists of a name and a token count.
func ourSpans(text []byte, r *record) *fault.Error {
	const fix = "a list of [name, tokens], together at most prompt_tokens"
	body := bytes.TrimSpace(text[1 : len(text)-1])
	for left := r.Prompt; len(body) > 0; {
		end := bytes.IndexByte(body, ']')
		if end < 0 || body[0] != '[' {
			return wrong("spans", body, Malformed, fix)
		}
		id, count, _ := bytes.Cut(body[1:end], []byte{','})
		n, reason := tokens(bytes.TrimSpace(count))
		if id = bytes.TrimSpace(id); reason == "" {
			reason = name(id)
		}
		if reason == "" && n == 0 {
			reason = Zero
		}
		if reason != "" {
			return wrong("spans", body[:end+1], reason, fix)
		}
		if left -= n; left < 0 {
			return wrong("spans", text, Mismatch, fix)
		}
		r.Spans = append(r.Spans, Span{named(id), n})
		body = bytes.TrimSpace(body[end+1:])
		if len(body) > 0 && body[0] == ',' {
			body = bytes.TrimSpace(body[1:])
		}
	}
	return nil
}

// keys calls read for each key of an object. The returned bits identify keys, to detect duplicates; the lowest three
// are arrival, prompt and output under any name, of which the last two are required.
func keys(line []byte, names [3]string, read func(key, value []byte) (bit uint, reason Reason, fix string)) *fault.Error {
	o := object{text: line}
	var seen uint
	for {
		key, value, reason := o.next()
		if reason != "" {
			return wrong("line", line, reason, "one whole JSON object a line")
		}
		if o.done {
			break
		}
		bit, reason, fix := read(key, value)
		if seen&bit != 0 {
			reason, fix = Twice, "once"
		}
		if reason != "" {
			return wrong(string(key), value, reason, fix)
		}
		seen |= bit
	}
	for i, name := range names[1:] {
		if name != "" && seen&(2<<i) == 0 {
			return wrong(name, nil, Missing, wholeFix)
		}
	}
	return nil
}

// list reports a value that is not a list.
func list(value []byte) Reason {
	if value[0] != '[' {
		return NotText
	}
	return ""
}

// name reports a value that is neither text nor number.
func name(value []byte) Reason {
	if len(value) == 0 || value[0] == '"' {
		return ""
	}
	if _, err := strconv.ParseFloat(string(value), 64); err != nil {
		return NotText
	}
	return ""
}
