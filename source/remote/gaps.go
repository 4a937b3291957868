package remote

import "github.com/memwall/memwall/format/gguf"

// Headers of GGUF files are tokens for the most part, of which no reader keeps anything. They are kept without.

// without is the beginning of a file less its gaps, which lie in it in order.
func without(at []byte, gaps []gguf.Gap) []byte {
	if len(gaps) == 0 {
		return at
	}
	out, from := []byte(nil), int64(0)
	for _, g := range gaps {
		out = append(out, at[from:g.At]...)
		from = g.At + g.Bytes
	}
	return append(out, at[from:]...)
}

// holes are the beginning of a file without its gaps.
type holes struct {
	kept []byte
	gaps []gguf.Gap
	end  int64 // of the last byte, in the file
}

// holed takes what was kept without gaps; false when the gaps cannot be those of the bytes.
func (f *file) holed(kept []byte, gaps []gguf.Gap) bool {
	end, from := int64(len(kept)), int64(0)
	for _, g := range gaps {
		end += max(0, g.Bytes)
		if g.At < from || g.Bytes < 0 || end > maxFetched || g.At+g.Bytes > end {
			return false
		}
		from = g.At + g.Bytes
	}
	f.at, f.gaps, f.holes = nil, gaps, &holes{kept, gaps, end}
	return end <= f.size
}

// read gives the bytes from off on, with zeros for gaps. All of them lie before the end.
func (h *holes) read(p []byte, off int64) int {
	clear(p)
	kept, from, to := h.kept, int64(0), off+int64(len(p))
	piece := func(end int64) {
		if a, b := max(from, off), min(end, to); a < b {
			copy(p[a-off:b-off], kept[a-from:])
		}
	}
	for _, g := range h.gaps {
		piece(g.At)
		kept, from = kept[g.At-from:], g.At+g.Bytes
	}
	piece(h.end)
	return len(p)
}

// have is how many of the first bytes are at hand, for this reader.
func (f *file) have() int64 {
	switch {
	case f.holes == nil:
		return int64(len(f.at))
	case f.told:
		return f.holes.end
	}
	return f.gaps[0].At
}

// fill: what is read beyond what was kept, or by a reader that knows nothing of gaps, is fetched from the first gap on.
func (f *file) fill() {
	if f.holes == nil {
		return
	}
	f.at = f.holes.kept[:f.gaps[0].At:f.gaps[0].At]
	f.gaps, f.holes, f.kept = nil, nil, int64(len(f.at))
}

// bytes are what is kept of the file.
func (f *file) bytes() []byte {
	if f.holes != nil {
		return f.holes.kept
	}
	return without(f.at, f.gaps)
}

// Gaps are the stretches of the header that are not here. Whoever asks reads across them.
func (h *handle) Gaps() []gguf.Gap {
	h.file.mu.Lock()
	defer h.file.mu.Unlock()
	h.file.told = true
	return h.file.gaps
}

// KeepWithout leaves gaps out of what is kept.
func (h *handle) KeepWithout(gaps []gguf.Gap) {
	h.file.mu.Lock()
	defer h.file.mu.Unlock()
	n := len(gaps)
	for n > 0 && gaps[n-1].At+gaps[n-1].Bytes > int64(len(h.file.at)) {
		n--
	}
	if len(h.file.gaps) == 0 {
		h.file.gaps = gaps[:n]
	}
}
