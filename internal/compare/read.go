package compare

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/torch"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/snapshot"
)

// read determines the kind of a file by its first bytes and reads it.
func read(text io.Reader) (*startup.Log, error) {
	b := bufio.NewReaderSize(text, torch.Sniffed)
	head, err := b.Peek(torch.Sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, LogError(err)
	}
	kind := torch.Sniff(head)
	if kind == torch.GZip {
		in, err := gzip.NewReader(b)
		if err != nil {
			return nil, &api.Error{Code: api.BadFile, Field: "text", Message: "the file begins as one of gzip and is none: " + err.Error(),
				Hint: "give it unpacked"}
		}
		b = bufio.NewReaderSize(in, torch.Sniffed)
		head, _ = b.Peek(torch.Sniffed)
		if kind = torch.Sniff(head); kind == torch.GZip {
			return nil, &api.Error{Code: api.BadFile, Field: "text", Message: "the file is packed twice", Hint: "give it unpacked"}
		}
	}
	if err := torch.Refused(kind); err != nil {
		return nil, LogError(err)
	}
	switch kind {
	case torch.Pickle:
		m, err := snapshot.Read(b)
		if err != nil {
			return nil, LogError(err)
		}
		return m.Report().Log(), nil
	case torch.TraceFile:
		t, err := torch.ReadTrace(b)
		if err != nil {
			return nil, LogError(err)
		}
		return t.Log(), nil
	case torch.StatsFile:
		l, err := torch.ReadStats(b)
		if err != nil {
			return nil, LogError(err)
		}
		return l, nil
	}
	return readLog(b)
}

// readLog feeds every line to every reader and returns the log of the one that recognizes the most lines.
func readLog(text io.Reader) (*startup.Log, error) {
	readers := []startup.Reader{&vllm.Reader{}, &sglang.Reader{}, &llamacpp.LogReader{}, &torch.SummaryReader{}}
	n, err := startup.Read(text, readers...)
	if err != nil {
		return nil, LogError(err)
	}
	best := readers[0].Log()
	for _, r := range readers[1:] {
		if l := r.Log(); l.Signs > best.Signs {
			best = l
		}
	}
	if best.Signs == 0 {
		return nil, &api.Error{Code: api.BadFile, Field: "text",
			Message: fmt.Sprintf("none of the %d lines is from the start of a server that memwall knows", n),
			Hint: "give what vLLM, SGLang or llama.cpp printed from its start until it was ready, a trace of torch.profiler, or " +
				"torch.cuda.memory_summary()"}
	}
	return best, nil
}

// LogError converts an error of reading a text into an api error.
func LogError(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return &api.Error{Code: api.BadFile, Field: "text", Message: e.Problem, Hint: e.Fix}
	}
	return &api.Error{Code: api.BadFile, Field: "text", Message: "the log cannot be read: " + err.Error(), Hint: "give it again"}
}
