package trend

// Series keeps a series in bounded room: when it is full, neighbours become one point with their mean, and from then on
// as many readings become one.
type Series struct {
	points []Point
	fold   int // readings that make a point
	sum    Point
	n      int // readings in sum
}

// Most points that a series keeps.
const Most = 512

// Add takes a reading, no older than the last.
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

// Points are those that are whole, in order. They are the series' own.
func (s *Series) Points() []Point { return s.points }
