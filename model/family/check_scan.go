package family

import "fmt"

// headless are recurrences and convolutions of channels, which have no heads.
var headless = map[SSMStyle]bool{Mamba1: true, ShortOnly: true, LongConv: true}

// grouped are recurrences whose heads share keys and queries by groups.
var grouped = map[SSMStyle]bool{Mamba2: true, DeltaNet: true}

// check refuses a recurrence whose heads and groups do not divide what they share.
func (s *SSM) check(layer int) error {
	wrong := func(what string, n int64, problem string) error {
		return &FieldError{Field: fmt.Sprintf("layer %d: state %s", layer, what), Value: fmt.Sprint(n), Problem: problem, Fix: "correct the config"}
	}
	switch {
	case s.Inner == 0:
	case s.Heads < 1 && !headless[s.Style]:
		return wrong("heads", s.Heads, "must be at least 1")
	case s.Heads > 0 && s.Inner%s.Heads != 0:
		return wrong("heads", s.Heads, fmt.Sprintf("do not divide the inner width %d", s.Inner))
	case grouped[s.Style] && (s.Groups < 1 || s.Heads%s.Groups != 0):
		return wrong("groups", s.Groups, fmt.Sprintf("do not divide the %d heads", s.Heads))
	}
	return nil
}
