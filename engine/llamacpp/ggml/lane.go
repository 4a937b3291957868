package ggml

import "github.com/memwall/memwall/lifetime"

// lane collects the events of one spot.
type lane struct {
	program  lifetime.Program
	events   []lifetime.Event
	sizes    []Form
	forms    map[Form]int16
	segments map[string]int16
	vacant   []int16 // slots that were used and are free
	key      []byte
}

func (l *lane) begin() {
	l.forms, l.segments = map[Form]int16{}, map[string]int16{}
}

// size is the number of a form in the table of sizes.
func (l *lane) size(f Form) int16 {
	i, ok := l.forms[f]
	if !ok {
		i = int16(len(l.sizes))
		l.sizes = append(l.sizes, f)
		l.forms[f] = i
	}
	return i
}

func (l *lane) lowestVacant() int16 {
	if len(l.vacant) == 0 {
		l.program.Slots++
		return int16(l.program.Slots - 1)
	}
	least := 0
	for i, s := range l.vacant {
		if s < l.vacant[least] {
			least = i
		}
	}
	s := l.vacant[least]
	last := len(l.vacant) - 1
	l.vacant[least] = l.vacant[last]
	l.vacant = l.vacant[:last]
	return s
}

func (l *lane) free(slot int16) {
	l.events = append(l.events, lifetime.Event{Verb: lifetime.Free, Slot: slot})
	l.vacant = append(l.vacant, slot)
}

// cut ends a segment; equal ones are kept once.
func (l *lane) cut() {
	l.key = l.key[:0]
	for _, e := range l.events {
		l.key = append(l.key, byte(e.Verb), byte(e.Slot), byte(e.Slot>>8), byte(e.Size), byte(e.Size>>8))
	}
	i, ok := l.segments[string(l.key)]
	if !ok {
		i = int16(len(l.program.Segments))
		l.segments[string(l.key)] = i
		l.program.Segments = append(l.program.Segments, append([]lifetime.Event(nil), l.events...))
	}
	l.program.Order = append(l.program.Order, i)
	l.events = l.events[:0]
}
