package serving

import "math"

// collective is an all-reduce over the ranks of a tensor group.
type collective struct {
	perToken  float64 // bytes of a step's token
	perOutput float64
	ranks     float64
	// reach is the number of other ranks that a token is sent to and returned from: an exchange instead of an all-reduce.
	reach float64
	rate  float64 // of a device's link, one way, bytes a second
	at    collectiveCoefs
}

type collectiveCoefs struct{ call, peer, once, ring, start, grow, crowd int }

// Links that behave alike.
func linkClass(name string) string {
	switch {
	case len(name) >= 6 && name[:6] == "NVLink":
		return "nvlink"
	case len(name) >= 4 && name[:4] == "PCIe", name == "":
		return "pcie"
	}
	return "other"
}

func (b *book) collective(link string, rate float64, ranks int64) *collective {
	l := b.levels(linkClass(link))
	return &collective{ranks: float64(ranks), rate: rate * b.wired(link, ranks), at: collectiveCoefs{b.need("link.call", l), b.need("link.peer", l), b.need("link.once", l), b.need("link.ring", l), b.need("link.start", l), b.need("link.grow", l), b.need("link.crowd", l)}}
}

// wired returns the fraction of a device's links that reach other ranks of a group: if each pair of devices has its own link (XGMI
// within a board) rather than a switch, links to the board's other devices are idle. A two-die board is connected differently, and
// treated as a switch.
func (d *device) wired(link string, ranks int64) float64 {
	board := d.hw.PerNode
	if link != "XGMI" || d.hw.Dies > 1 || !board.Known || ranks < 2 || ranks >= int64(board.Value) {
		return 1
	}
	return float64(ranks-1) / float64(board.Value-1)
}

func (l *collective) uses() []int {
	return []int{l.at.call, l.at.peer, l.at.once, l.at.ring, l.at.start, l.at.grow, l.at.crowd}
}

func (l *collective) seconds(p *point, _ *device, c []float64) float64 {
	if l.reach > 0 {
		return l.exchange(p.tokens*l.perToken, c)
	}
	return l.secondsFor(p.tokens*l.perToken+p.outputs*l.perOutput, c)
}

// reached is to how many of n ranks a token goes that takes k of the experts, which are spread evenly.
func reached(n, k float64) float64 { return (n - 1) * (1 - math.Pow(1-1/n, k)) }

// exchange brings the tokens of a rank to those that hold their experts, or their results back: each rank sends and
// receives at a time.
//
//	call + (n-2) × peer + reach × bytes / (rate × ring)
func (l *collective) exchange(bytes float64, c []float64) float64 {
	return c[l.at.call] + (l.ranks-2)*c[l.at.peer] + l.reach*bytes/(l.rate*l.share(l.at.ring, l.at.grow, c))
}

// share of the link's rate that a way reaches among so many ranks: switches that add up on the way let more ranks reach
// more of it, hosts that stand between let them reach less.
//
//	min(1, share × (ranks/2)^(grow - 1))
func (l *collective) share(way, grow int, c []float64) float64 {
	return share(c[way] * math.Pow(l.ranks/2, c[grow]-1))
}

// secondsFor is an all-reduce of some bytes. Small ones read every peer's whole copy in one go; larger ones go
// around in pieces, 2(n-1)/n of the bytes over each link; the library takes the faster way.
//
//	once = call + (n-2) × peer + (n-1) × bytes / (rate × once)
//	ring = call + (n-2) × peer + start + 2 (n-1)/n × bytes / (rate × ring)
func (l *collective) secondsFor(bytes float64, c []float64) float64 {
	n := l.ranks
	if n < 2 {
		return 0
	}
	call := c[l.at.call] + (n-2)*c[l.at.peer]
	once := (n - 1) * bytes / (l.rate * l.share(l.at.once, l.at.crowd, c))
	ring := c[l.at.start] + 2*(n-1)/n*bytes/(l.rate*l.share(l.at.ring, l.at.grow, c))
	return call + least(once, ring)
}

// least is a smooth minimum, the -4-norm.
func least(a, b float64) float64 {
	if a > b {
		a, b = b, a
	}
	if a == 0 {
		return 0
	}
	x := a / b
	x *= x
	return a / math.Sqrt(math.Sqrt(1+x*x))
}
