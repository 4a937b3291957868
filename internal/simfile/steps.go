package simfile

import (
	"fmt"
	"io"
	"strconv"

	"github.com/memwall/memwall/sim"
)

// Steps writes the steps of every replica in Chrome's trace format: a process for each replica with a row of its steps, and
// counters of its queue, its batch and its KV cache.
type Steps struct {
	w        io.Writer
	replicas map[int]bool
	line     []byte
	any      bool
}

// NewSteps begins a trace.
func NewSteps(w io.Writer) *Steps {
	_, _ = io.WriteString(w, `{"displayTimeUnit":"ms","traceEvents":[`)
	return &Steps{w: w, replicas: map[int]bool{}}
}

// Add steps that a replica computed in a row.
func (s *Steps) Add(st *sim.Step) {
	if s == nil {
		return
	}
	if !s.replicas[st.Replica] {
		s.replicas[st.Replica] = true
		s.write(fmt.Appendf(nil, `{"ph":"M","name":"process_name","pid":%d,"args":{"name":"replica %d"}}`, st.Replica, st.Replica))
		s.write(fmt.Appendf(nil, `{"ph":"M","name":"thread_name","pid":%d,"tid":0,"args":{"name":"steps"}}`, st.Replica))
	}
	s.write(s.step(st))
	s.write(s.counter(st, "waiting", float64(st.Waiting)))
	s.write(s.counter(st, "running", float64(st.Running)))
	s.write(s.counter(st, "KV cache, %", 100*st.KV))
}

// End the trace.
func (s *Steps) End() {
	if s != nil {
		_, _ = io.WriteString(s.w, "\n]}\n")
	}
}

func (s *Steps) write(event []byte) {
	between := ",\n"
	if !s.any {
		between, s.any = "\n", true
	}
	_, _ = io.WriteString(s.w, between)
	_, _ = s.w.Write(event)
}

// step is a slice of the row, named by what it computes.
func (s *Steps) step(st *sim.Step) []byte {
	b := append(s.line[:0], `{"ph":"X","tid":0,"pid":`...)
	b = strconv.AppendInt(b, int64(st.Replica), 10)
	b = append(append(append(b, `,"name":"`...), kindOf(st)...), `","ts":`...)
	b = strconv.AppendFloat(b, float64(st.Start.Nanoseconds())/1000, 'f', 3, 64)
	b = strconv.AppendFloat(append(b, `,"dur":`...), float64((st.End-st.Start).Nanoseconds())/1000, 'f', 3, 64)
	for _, x := range []struct {
		key   string
		value int64
	}{{`,"args":{"steps":`, st.Times}, {`,"sequences that decode":`, st.Batch.Decodes}, {`,"prompt tokens":`, st.Batch.Prefill}, {`,"prompts":`, st.Batch.Prompts}} {
		b = strconv.AppendInt(append(b, x.key...), x.value, 10)
	}
	s.line = append(b, "}}"...)
	return s.line
}

func kindOf(st *sim.Step) string {
	switch {
	case st.Batch.Prefill == 0:
		return "decode"
	case st.Batch.Decodes == 0:
		return "prompts"
	}
	return "decode and prompts"
}

func (s *Steps) counter(st *sim.Step, name string, value float64) []byte {
	b := append(s.line[:0], `{"ph":"C","pid":`...)
	b = strconv.AppendInt(b, int64(st.Replica), 10)
	b = append(append(append(b, `,"name":"`...), name...), `","ts":`...)
	b = strconv.AppendFloat(b, float64(st.Start.Nanoseconds())/1000, 'f', 3, 64)
	b = strconv.AppendFloat(append(b, `,"args":{"":`...), value, 'g', 6, 64)
	s.line = append(b, "}}"...)
	return s.line
}
