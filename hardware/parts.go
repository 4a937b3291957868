package hardware

import "strings"

// findInParts resolves a name with words in parentheses. The device may precede them ("H100 SXM 80GB (Azure ND H100
// v5)"), be inside them ("Custom PC (Nvidia RTX 3060)"), or be named by both. A processor before an accelerator in
// parentheses is its host.
func findInParts(name string) (Device, []Note, error) {
	outside, inside := parts(name)
	out, outNotes, outErr := findOutside(outside, inside)
	in, inNotes, inErr := findInside(inside)
	switch {
	case outErr == nil && inErr == nil && out.ID != in.ID && !out.IsCPU():
		return Device{}, nil, severalMeant(name, []string{out.ID, in.ID})
	case inErr == nil && (outErr != nil || out.IsCPU()):
		return in, append(inNotes, unread(outside, name)...), nil
	case outErr == nil:
		if inErr != nil {
			outNotes = append(outNotes, unread(inside, name)...)
		}
		return out, outNotes, nil
	}
	return Device{}, nil, errMissing
}

// findOutside resolves the words before the parentheses; a memory size inside the parentheses applies.
func findOutside(outside, inside string) (Device, []Note, error) {
	q, p := read(outside), read(inside)
	if len(q.memory) == 0 {
		q.memory = p.memory
	}
	return q.find(outside)
}

// findInside resolves the words in parentheses. A footnote mark may be stuck to the last one ("RTX 40901"): it is
// dropped if only that yields a device.
func findInside(inside string) (Device, []Note, error) {
	d, notes, err := read(inside).find(inside)
	if err == nil {
		return d, notes, nil
	}
	trimmed := strings.TrimRight(inside, " ")
	if n := len(trimmed); n > 1 && trimmed[n-1] == '1' && trimmed[n-2] != ' ' {
		d, notes, errCut := read(trimmed[:n-1]).find(inside)
		if errCut == nil {
			return d, append(notes, note("name_unread", "the last figure of %s was taken for a footnote mark", quote(inside))), nil
		}
	}
	return Device{}, nil, err
}

// parts returns the words outside parentheses and those inside.
func parts(name string) (outside, inside string) {
	var out, in strings.Builder
	depth := 0
	for _, r := range name {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth = max(0, depth-1)
		case depth > 0:
			in.WriteRune(r)
			continue
		default:
			out.WriteRune(r)
			continue
		}
		out.WriteByte(' ')
	}
	return strings.TrimSpace(out.String()), strings.TrimSpace(in.String())
}

func unread(part, name string) []Note {
	if len(read(part).words) == 0 {
		return nil
	}
	return []Note{note("name_unread", "%s in %s was not read", quote(part), quote(name))}
}
