package workload

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Write the requests of a source that come by themselves, in the format memwall or mooncake, and tell how many there were.
// What a closed loop or a session asks later rests on a server: AppendOwn writes it as it comes.
func Write(w io.Writer, format string, from Source) (n int64, err error) {
	write := AppendOwn
	switch format {
	case "memwall":
	case "mooncake":
		write = func(b []byte, r *Request) []byte { return AppendMooncake(b, r, 512) }
	default:
		return 0, bad("format", format, "is not written", "memwall or mooncake")
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for {
		r, ok, err := from.Next()
		if err != nil || !ok {
			return n, firstOf(err, out.Flush())
		}
		line = write(line[:0], &r)
		if _, err := out.Write(line); err != nil {
			return n, err
		}
		n++
	}
}

func firstOf(errs ...error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// AppendOwn adds a line of memwall's own format, which reads as the same request. Numbers of 64 bits stand in quotes,
// for many programs read bare ones as floating point.
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

// appendSpans: a single one is a prefix.
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

// appendSeconds with as many decimals as it takes, up to nine.
func appendSeconds(b []byte, t time.Duration) []byte {
	b = strconv.AppendInt(b, int64(t/time.Second), 10)
	part := t % time.Second
	if part == 0 {
		return b
	}
	digits := strconv.Itoa(int(part + time.Second)) // a one before keeps zeros
	return append(append(b, '.'), strings.TrimRight(digits[1:], "0")...)
}

// AppendMooncake adds a line of Mooncake's format with blocks of a number of tokens. Its time is in whole milliseconds, and
// what two prompts have in common ends with a block.
func AppendMooncake(b []byte, r *Request, block int64) []byte {
	b = appendInt(b, `{"timestamp": `, int64(r.Arrival/time.Millisecond))
	b = appendInt(b, `, "input_length": `, r.Prompt)
	b = appendInt(b, `, "output_length": `, r.Output)
	b = append(b, `, "hash_ids": [`...)
	c := blocks{r: r, size: block}
	for from := int64(0); from < r.Prompt; from += block {
		if from > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendUint(b, c.next(from, min(from+block, r.Prompt)), 10)
	}
	return append(b, "]}\n"...)
}

// blocks names the blocks of a prompt by what is in them and before them.
type blocks struct {
	r     *Request
	size  int64
	span  int   // the block begins in
	begin int64 // of that span
	chain uint64
}

// next block, between two tokens of the prompt. One that is a single span keeps its name; one that is wholly of spans is
// named by them and by all before; any other is this request's alone.
func (c *blocks) next(from, to int64) uint64 {
	single := uint64(0)
	whole := false
	for at := from; at < to; {
		if c.span >= len(c.r.Spans) {
			return mix(mix(uint64(c.r.ID)^1<<63)+uint64(from))>>2 | 1<<62
		}
		s := c.r.Spans[c.span]
		end := c.begin + s.Tokens
		whole, single = c.begin == from && end == to, s.ID
		c.chain = mix(mix(c.chain^s.ID) + uint64(at-c.begin)<<32 + uint64(min(end, to)-at))
		if at = min(end, to); at == end {
			c.begin, c.span = end, c.span+1
		}
	}
	if whole {
		return single
	}
	return c.chain>>2 | 1<<62
}
