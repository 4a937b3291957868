package live

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Said is the prediction for one device: all engines on it together.
type Said struct {
	Bytes  unit.Bytes     `json:"bytes"`
	Low    unit.Bytes     `json:"low_bytes"`
	High   unit.Bytes     `json:"high_bytes"`
	Ledger []memwall.Item `json:"ledger"`
}

// Off is measured minus predicted.
type Off struct {
	Bytes   unit.Bytes `json:"bytes"`
	Percent float64    `json:"percent"` // of the prediction
	// Within reports that the measurement lies in the predicted band.
	Within bool `json:"within"`
	// Line is the id of the ledger line that the difference probably comes from, "" if none explains it; Why says so in
	// words.
	Line string `json:"line,omitempty"`
	Why  string `json:"why"`
}

// accountOf returns one rank's prediction from a group: what is resident once the engine is loaded, with the band of
// its needs.
func accountOf(d *memwall.Device) *Said {
	s := &Said{Bytes: d.Used, Low: d.Used - (d.Needed - d.NeededLow), High: d.Used + (d.NeededHigh - d.Needed)}
	s.Ledger = append(append(s.Ledger, d.Ledger...), d.Beside...)
	for _, it := range d.Beside {
		s.Bytes, s.Low, s.High = s.Bytes+it.Bytes, s.Low+it.Low, s.High+it.High
	}
	return s
}

// plus adds another engine on the same device.
func (s *Said) plus(o *Said) *Said {
	if s == nil {
		return o
	}
	return &Said{s.Bytes + o.Bytes, s.Low + o.Low, s.High + o.High, append(append([]memwall.Item(nil), s.Ledger...), o.Ledger...)}
}

// byRank returns the prediction of each rank, in order. A group's ranks are "0-3" or "0,2".
func byRank(a *memwall.Answer) []*Said {
	out := map[int]*Said{}
	n := 0
	for i := range a.Devices {
		s := accountOf(&a.Devices[i])
		for _, r := range ranks(a.Devices[i].Ranks) {
			out[r] = s
			n = max(n, r+1)
		}
	}
	all := make([]*Said, n)
	for r := range all {
		all[r] = out[r]
	}
	return all
}

// maxRanks is the maximum per machine.
const maxRanks = 256

// ranks parses "0-3,6".
func ranks(text string) (out []int) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		a, err := strconv.Atoi(strings.TrimSpace(from))
		b, err2 := strconv.Atoi(strings.TrimSpace(to))
		if err != nil || err2 != nil || a < 0 {
			continue
		}
		for ; a <= b && len(out) < maxRanks && a < maxRanks; a++ {
			out = append(out, a)
		}
	}
	return out
}

// against compares a measurement with the prediction.
func (s *Said) against(measured unit.Bytes) *Off {
	o := &Off{Bytes: measured - s.Bytes, Within: measured >= s.Low && measured <= s.High}
	if s.Bytes > 0 {
		o.Percent = 100 * float64(o.Bytes) / float64(s.Bytes)
	}
	o.Line, o.Why = s.explains(o)
	return o
}

// A difference is attributed to a ledger line if they differ by at most this share of it, or by trifle.
const (
	near   = 0.03
	trifle = 48 * unit.MiB
)

// explains returns the ledger line that a difference probably comes from: the one with the widest band, if the total's
// band covers the difference; otherwise one that is missing or duplicated; otherwise none.
func (s *Said) explains(o *Off) (line, why string) {
	widest := s.widest()
	switch {
	case magnitude(o.Bytes) <= trifle:
		return "", "no more than drivers differ by"
	case o.Within && widest != nil:
		return widest.ID, fmt.Sprintf("within the band; %s is its least certain line", widest.Name)
	case o.Within:
		return "", "within the band"
	}
	if it := s.sized(magnitude(o.Bytes)); it != nil {
		if o.Bytes < 0 {
			return it.ID, fmt.Sprintf("as much as %s: not taken yet, or not there", it.Name)
		}
		return it.ID, fmt.Sprintf("as much as %s once more", it.Name)
	}
	if widest != nil && o.Bytes > 0 {
		return widest.ID, fmt.Sprintf("beyond the band; %s is its least certain line", widest.Name)
	}
	if o.Bytes < 0 {
		return "", "less than was said, by no line of the ledger: still loading, or not all of it is seen"
	}
	return "", "more than was said, by no line of the ledger"
}

// widest returns the line with the widest band, except the rest of a pool; nil if all are exact.
func (s *Said) widest() (best *memwall.Item) {
	for i := range s.Ledger {
		it := &s.Ledger[i]
		if it.ID == "pool_unused" || it.High <= it.Low {
			continue
		}
		if best == nil || it.High-it.Low > best.High-best.Low {
			best = it
		}
	}
	return best
}

// sized returns the line closest to b bytes, within the tolerance.
func (s *Said) sized(b unit.Bytes) (best *memwall.Item) {
	least := math.Inf(1)
	for i := range s.Ledger {
		it := &s.Ledger[i]
		off := math.Abs(float64(it.Bytes - b))
		if it.Bytes > 2*trifle && off < least && off <= math.Max(near*float64(it.Bytes), float64(trifle)) {
			best, least = it, off
		}
	}
	return best
}

func magnitude(b unit.Bytes) unit.Bytes { return max(b, -b) }
