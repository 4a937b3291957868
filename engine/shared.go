package engine

// Shared is what the jobs of one search have in common, worked out once: keys are an engine's own types. It is not for
// several at once.
type Shared struct{ found map[any]any }

// NewShared knows nothing yet.
func NewShared() *Shared { return &Shared{map[any]any{}} }

// Len is how many things are known.
func (s *Shared) Len() int { return len(s.found) }

// Once gives what make gives for a key: of a job that shares, what it gave the first time. The key holds all that make
// depends on.
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
