package workload

import (
	"strconv"
	"strings"
	"time"
)

// AppendOwn appends a line in memwall's own format, which reads back as the same request. 64-bit integers are quoted,
// since many programs read unquoted ones as floating point.
func AppendOwn(b []byte, r *Request) []byte {
	b = append(b, `{"arrival_s":`...)
	b = appendSeconds(b, r.Arrival)
	b = appendInt(b, `,"prompt_tokens":`, r.Prompt)
	b = appendInt(b, `,"output_tokens":`, r.Output)
	b = appendSpans(b, r.Spans)
	for _, c := range []struct {
		key   string
		value uint64
	}{{`,"own":"`, r.Own}, {`,"session":"`, r.User}} {
		if c.value != 0 {
			b = append(strconv.AppendUint(append(b, c.key...), c.value, 10), '"')
		}
	}
	if r.Priority != 0 {
		b = appendInt(b, `,"priority":`, int64(r.Priority))
	}
	if r.Adapter != 0 {
		b = appendInt(b, `,"adapter":`, int64(r.Adapter))
	}
	if r.Patience != 0 {
		b = appendSeconds(append(b, `,"patience_s":`...), r.Patience)
	}
	return append(b, "}\n"...)
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

// appendSpans writes a single span as a prefix.
func appendSpans(b []byte, spans []Span) []byte {
	switch len(spans) {
	case 0:
		return b
	case 1:
		b = strconv.AppendUint(append(b, `,"prefix_id":"`...), spans[0].ID, 10)
		return appendInt(b, `","prefix_tokens":`, spans[0].Tokens)
	}
	between := `,"spans":[["`
	for _, s := range spans {
		b = strconv.AppendUint(append(b, between...), s.ID, 10)
		b = append(appendInt(b, `",`, s.Tokens), ']')
		between = `,["`
	}
	return append(b, ']')
}

// appendSeconds writes the necessary decimals, up to nine.
func appendSeconds(b []byte, t time.Duration) []byte {
	b = strconv.AppendInt(b, int64(t/time.Second), 10)
	part := t % time.Second
	if part == 0 {
		return b
	}
	digits := strconv.Itoa(int(part + time.Second)) // a leading one preserves zeros
	return append(append(b, '.'), strings.TrimRight(digits[1:], "0")...)
}
