package trend

// Series stores a time series in bounded memory: when it is full, adjacent points are merged into their mean, and from
// then on as many readings form one point.
type Series struct {
	points []Point
	fold   int // readings per point
	sum    Point
	n      int // readings accumulated in sum
}

// Most is the maximum number of points that a series holds.
const Most = 512

// Add adds a reading, which must not be older than the last.
func (s *Series) Add(p Point) {
	s.fold = max(1, s.fold)
	s.sum.At += p.At
	s.sum.Value += p.Value
	if s.n++; s.n < s.fold {
		return
	}
	n := float64(s.n)
	s.points = append(s.points, Point{s.sum.At / n, s.sum.Value / n})
	s.sum, s.n = Point{}, 0
	if len(s.points) == Most {
		s.halve()
	}
}

func (s *Series) halve() {
	for i := range len(s.points) / 2 {
		a, b := s.points[2*i], s.points[2*i+1]
		s.points[i] = Point{(a.At + b.At) / 2, (a.Value + b.Value) / 2}
	}
	s.points = s.points[:len(s.points)/2]
	s.fold *= 2
}

// Points returns the complete points in order. The slice is owned by the series.
func (s *Series) Points() []Point { return s.points }
