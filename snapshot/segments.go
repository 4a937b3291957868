package snapshot

// Segments is how the reserved bytes of a device lay at the moment of the snapshot. All but Count, Largest, Graphs and Expandable add up
// to Reserved.
type Segments struct {
	Count      int   `json:"count"`
	Reserved   int64 `json:"reserved_bytes"`
	Requested  int64 `json:"requested_bytes"`       // by tensors that live
	Rounding   int64 `json:"rounding_bytes"`        // of their blocks beyond that
	Pending    int64 `json:"pending_free_bytes"`    // freed, and another stream may still read them
	Whole      int64 `json:"unused_segments_bytes"` // in segments of which nothing is used: empty_cache gives them back
	Between    int64 `json:"unused_between_bytes"`  // beside tensors that live: fragmentation
	Largest    int64 `json:"largest_unused_bytes"`
	Graphs     int64 `json:"graph_pools_bytes"` // reserved by pools of CUDA graphs
	Expandable int64 `json:"expandable_bytes"`
}

// layout adds up the segments of a device.
func (r *replay) layout() (out Segments) {
	for i := range r.segments {
		if s := &r.segments[i]; s.device == int64(r.device) {
			r.addSegment(s, &out)
		}
	}
	return out
}

func (r *replay) addSegment(s *segment, out *Segments) {
	out.Count++
	out.Reserved += s.size
	if s.private {
		out.Graphs += s.size
	}
	if s.expandable {
		out.Expandable += s.size
	}
	used, free := int64(0), s.size
	for _, b := range r.blocks[s.first : s.first+s.count] {
		switch b.state {
		case inactive:
			out.Largest = max(out.Largest, b.size)
			continue
		case pendingFree:
			out.Pending += b.size
		case allocated:
			requested := b.requested
			if requested == 0 || requested > b.size {
				requested = b.size
			}
			out.Requested += requested
			out.Rounding += b.size - requested
		}
		used += b.size
		free -= b.size
	}
	if used == 0 {
		out.Whole += free
		return
	}
	out.Between += free
}
