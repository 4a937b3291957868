package validation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/packed"
)

// Messages of failures are read and compared with what they say: the kind, the program and every figure. Start-up logs
// of servers that ran, in the engines' own words and with the figures of the rows, must hold no failure.

const messagesFile packed.File = "rows/failures/messages.jsonl"

// Message is a message of a failure and what it says.
type Message struct {
	Format  string            `json:"format"`
	Text    string            `json:"text"`
	Kind    diagnose.Kind     `json:"kind"`
	Engine  string            `json:"engine"`
	Figures map[string]string `json:"figures,omitempty"`
	Line    int               `json:"-"`
}

// Messages reads the embedded messages.
func Messages() ([]Message, error) {
	data, err := messagesFile.Read()
	if err != nil {
		return nil, err
	}
	var out []Message
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		m := Message{Line: n}
		if n == 1 {
			continue // what the file is
		}
		d := json.NewDecoder(bytes.NewReader(scan.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", messagesFile, n, err)
		}
		out = append(out, m)
	}
	return out, scan.Err()
}

// Diagnoses summarizes how messages were read.
type Diagnoses struct {
	Messages, Kind, Engine, Figures int
	// All of kind, engine and figures are right.
	All int
	// Ordinary logs, and those of them in which a failure was seen.
	Ordinary, Alarms int
	Wrong            []string
}

// DiagnosisTarget is the target share of messages read correctly.
const DiagnosisTarget = 0.95

// Right is the share of messages of which kind, engine and figures are right.
func (d *Diagnoses) Right() float64 { return share(d.All, d.Messages) }

// Met: the target is, and no ordinary log raised an alarm.
func (d *Diagnoses) Met() bool { return d.Right() >= DiagnosisTarget && d.Alarms == 0 }

// Diagnose reads all messages and ordinary logs.
func Diagnose(sets []Set) (*Diagnoses, error) {
	all, err := Messages()
	if err != nil {
		return nil, err
	}
	d := &Diagnoses{Messages: len(all)}
	for i := range all {
		d.message(&all[i])
	}
	for _, log := range ordinary(sets) {
		d.log(log)
	}
	return d, nil
}

func (d *Diagnoses) message(m *Message) {
	a, err := memwall.Diagnose(m.Text, memwall.Request{})
	if err != nil || a.Diagnosed == nil {
		d.Wrong = append(d.Wrong, fmt.Sprintf("line %d: %s: %v", m.Line, m.Format, err))
		return
	}
	kind, engine, wrong := a.Diagnosed.Kind == m.Kind, a.Diagnosed.Engine == m.Engine, m.wrong(a.Diagnosed)
	d.Kind += count(kind)
	d.Engine += count(engine)
	d.Figures += count(len(wrong) == 0)
	if kind && engine && len(wrong) == 0 {
		d.All++
		return
	}
	d.Wrong = append(d.Wrong, fmt.Sprintf("line %d: %s: read as %s of %q; %s", m.Line, m.Format, a.Diagnosed.Kind, a.Diagnosed.Engine,
		strings.Join(wrong, ", ")))
}

// wrong lists the figures that were not read as they stand.
func (m *Message) wrong(a *memwall.Diagnosed) (out []string) {
	for name, want := range m.Figures {
		if got := read(a, name); !sameFigure(want, got) {
			out = append(out, fmt.Sprintf("%s %s as %q", name, want, got))
		}
	}
	slices.Sort(out)
	return out
}

// read gives a figure of an answer by the name that messages have for it, "" for none.
func read(a *memwall.Diagnosed, name string) string {
	bytes := map[string]*unit.Bytes{"requested": a.Requested, "free": a.Free, "capacity": a.Total, "allocated": a.Allocated,
		"unallocated": a.Unallocated, "process": a.InUse, "others": a.Others, "limit": a.Limit}
	if b := bytes[name]; b != nil {
		return fmt.Sprint(int64(*b))
	}
	switch name {
	case "needed":
		return fmt.Sprint(a.NeededTokens)
	case "available":
		return fmt.Sprint(a.AvailableTokens)
	case "longest":
		return longest(a)
	case "device":
		return a.Device
	case "place":
		return string(a.Place)
	case "backend":
		return a.Backend
	}
	return ""
}

// longest is the context that the first fix gives.
func longest(a *memwall.Diagnosed) string {
	for _, f := range a.Fixes {
		if n, ok := f.Patch["context"]; ok {
			return fmt.Sprint(n)
		}
	}
	return ""
}

// sameFigure compares words, or bytes that were rounded to two digits behind the point.
func sameFigure(want, got string) bool {
	if want == got {
		return true
	}
	a, err := unit.ParseBytes(want)
	b, err2 := unit.ParseBytes(got)
	return err == nil && err2 == nil && max(a-b, b-a) <= 1
}

func (d *Diagnoses) log(text string) {
	d.Ordinary++
	a, err := memwall.Diagnose(text, memwall.Request{})
	if err != nil || a.Diagnosed == nil || a.Diagnosed.Kind != diagnose.None {
		d.Alarms++
		first, _, _ := strings.Cut(text, "\n")
		d.Wrong = append(d.Wrong, "a failure seen in: "+first)
	}
}
