package engine

// Shared caches work common to the jobs of one search, under keys of types private to each engine. It is not safe for
// concurrent use.
type Shared struct{ found map[any]any }

// NewShared returns an empty cache.
func NewShared() *Shared { return &Shared{map[any]any{}} }

// Len returns the number of entries.
func (s *Shared) Len() int { return len(s.found) }

// Once returns the result of make, cached under key if the job has a Shared. The key must determine the result.
func Once[T any](j *Job, key any, make func() T) T {
	if j.Shared == nil {
		return make()
	}
	if x, ok := j.Shared.found[key].(T); ok {
		return x
	}
	x := make()
	j.Shared.found[key] = x
	return x
}
