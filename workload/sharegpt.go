package workload

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/memwall/memwall/fault"
)

// Files of conversations, as collected by ShareGPT, contain texts without token counts. Counting would need a
// tokenizer, so they are read only with a given number of bytes per token. The first question of a conversation is the
// prompt and its answer the output, as in the benchmarks of vLLM and SGLang.

// conversations reads objects with a list of messages.
type conversations struct{ perToken float64 }

func (conversations) fields() [3]string {
	return [3]string{"arrival", "conversations", "conversations"}
}

func (t *Trace) startConversations(b *bufio.Reader) error {
	if t.options.PerToken == 0 {
		return missing("reading.bytes_per_token", "is not given, and conversations hold texts without counts of tokens",
			`4 is near for English; or count with the model's tokenizer and write lines of {"prompt_tokens":900,"output_tokens":210}`)
	}
	t.lines, t.codec = &objects{r: b}, conversations{t.options.PerToken}
	return nil
}

// read parses the first two messages. A conversation without an answer is not a request.
func (c conversations) read(text []byte, r *record) *fault.Error {
	r.failed = true
	return keys(text, [3]string{}, func(key, value []byte) (bit uint, reason Reason, fix string) {
		if string(key) != "conversations" {
			return 0, "", ""
		}
		asked, answered, reason := exchange(value)
		r.Prompt, r.Output = c.tokens(asked), c.tokens(answered)
		r.failed = asked == 0 || answered == 0
		return 1, reason, `a list of {"from":"human","value":"..."} and {"from":"gpt","value":"..."}`
	})
}

// tokens returns the estimated tokens of a text, at least one.
func (c conversations) tokens(size int64) int64 {
	return int64(between(float64(size)/c.perToken+0.5, 1, MaxTokens))
}

// exchange returns the bytes of the first two messages.
func exchange(list []byte) (asked, answered int64, reason Reason) {
	if list[0] != '[' {
		return 0, 0, NotText
	}
	o := object{text: list, at: 1}
	for i, size := range []*int64{&asked, &answered} {
		if o.take(']') {
			return asked, 0, ""
		}
		if i > 0 && !o.take(',') {
			return 0, 0, o.cut()
		}
		message, reason := o.value()
		if reason != "" {
			return 0, 0, reason
		}
		if *size, reason = textBytes(message); reason != "" {
			return 0, 0, reason
		}
	}
	return asked, answered, ""
}

// textBytes returns the bytes of a message's text.
func textBytes(message []byte) (n int64, reason Reason) {
	o := object{text: message}
	for {
		key, value, reason := o.next()
		if reason != "" || o.done {
			return n, reason
		}
		if k := string(key); k != "value" && k != "content" {
			continue
		}
		if value[0] != '"' {
			return 0, NotText
		}
		n = unquoted(value[1 : len(value)-1])
	}
}

// unquoted returns the UTF-8 bytes of a JSON string.
func unquoted(text []byte) (n int64) {
	for len(text) > 0 {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return n + int64(len(text))
		}
		n += int64(i)
		if text[i+1] != 'u' || i+6 > len(text) {
			n, text = n+1, text[i+2:]
			continue
		}
		n, text = n+wide(text[i+2:i+6]), text[i+6:]
	}
	return n
}

// wide returns the UTF-8 bytes of the four digits after \u; each half of a surrogate pair has two.
func wide(digits []byte) int64 {
	switch {
	case digits[0] == 'd' || digits[0] == 'D':
		if digits[1] >= '8' {
			return 2
		}
	case string(digits[:2]) == "00" && digits[2] < '8':
		return 1
	case digits[0] == '0' && digits[1] < '8':
		return 2
	}
	return 3
}

// maxObject is the maximum size of a conversation.
const maxObject = 16 << 20

// objects iterates over the objects in a list, or in sequence, however spread over lines.
type objects struct {
	r       *bufio.Reader
	text    []byte
	number  int64 // lines completed
	started int64 // line on which the object began
}

func (o *objects) line() int64 { return o.started + 1 }

// next returns the next object; io.EOF after the last.
func (o *objects) next() ([]byte, error) {
	if err := o.begin(); err != nil {
		return nil, err
	}
	o.text = append(o.text[:0], '{')
	depth, quoted, escaped := 1, false, false
	for depth > 0 {
		b, err := o.byte()
		if err != nil || len(o.text) >= maxObject {
			return nil, cutObject(err)
		}
		o.text = append(o.text, b)
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
	}
	return o.text, nil
}

// begin skips brackets and commas to the next object.
func (o *objects) begin() error {
	for {
		b, err := o.byte()
		o.started = o.number
		switch {
		case err != nil:
			return err
		case b == '{':
			return nil
		case bytes.IndexByte([]byte(" \t\r\n[],"), b) < 0:
			return &fault.Error{Field: "file", Value: string(rune(b)), Problem: string(Malformed),
				Fix: "a list of objects, or an object a line"}
		}
	}
}

func (o *objects) byte() (byte, error) {
	b, err := o.r.ReadByte()
	if b == '\n' {
		o.number++
	}
	return b, err
}

func cutObject(err error) error {
	switch {
	case err == nil:
		return &fault.Error{Field: "file", Problem: string(TooLong), Fix: "a conversation takes at most 16 MiB"}
	case errors.Is(err, io.EOF):
		return &fault.Error{Field: "file", Problem: string(CutOff), Fix: "copy it again: the end is not there"}
	}
	return err
}
