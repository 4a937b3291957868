package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Version of an engine: major, minor, patch.
type Version struct{ Major, Minor, Patch int }

// ParseVersion parses "0.24", "v0.9.2" or "0.13.0rc2.dev112+g763963a"; only the numbers before the first letter count,
// since a release candidate has the rules of its release.
func ParseVersion(s string) (Version, error) {
	text := strings.TrimPrefix(strings.TrimSpace(s), "v")
	if i := strings.IndexAny(text, "+-"); i >= 0 {
		text = text[:i]
	}
	var n [3]int
	for i, part := range strings.SplitN(text, ".", 4) {
		if i == 3 {
			break
		}
		digits := part[:leadingDigits(part)]
		x, err := strconv.Atoi(digits)
		if err != nil {
			if i == 0 {
				return Version{}, fmt.Errorf("%q is not a version such as 0.24 or 0.9.2", s)
			}
			break
		}
		n[i] = x
		if len(digits) < len(part) {
			break
		}
	}
	return Version{n[0], n[1], n[2]}, nil
}

func leadingDigits(s string) int {
	i := 0
	for i < len(s) && i < 6 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// V returns a version: V(0, 9, 2).
func V(major, minor, patch int) Version { return Version{major, minor, patch} }

// AtLeast reports whether v is o or later.
func (v Version) AtLeast(o Version) bool {
	if v.Major != o.Major {
		return v.Major > o.Major
	}
	if v.Minor != o.Minor {
		return v.Minor > o.Minor
	}
	return v.Patch >= o.Patch
}

// Before reports whether v is earlier than o.
func (v Version) Before(o Version) bool { return !v.AtLeast(o) }

// String formats the version as major.minor, with the patch if not zero.
func (v Version) String() string {
	if v.Patch == 0 {
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// VersionName formats a version as the engine's users know it. Engines with a numbering of their own, such as builds,
// have a method of that name.
func VersionName(e Engine, v Version) string {
	if own, ok := e.(interface{ VersionName(Version) string }); ok {
		return own.VersionName(v)
	}
	return v.String()
}

// Since is a rule in force from a version until the next row of its table.
type Since[T any] struct {
	From   Version
	Value  T
	Source string
}

// At returns the row in force at a version: the last one whose From is not later. Rows must be sorted; the first one
// also covers everything before it.
func At[T any](rows []Since[T], v Version) Since[T] {
	found := rows[0]
	for _, r := range rows[1:] {
		if v.AtLeast(r.From) {
			found = r
		}
	}
	return found
}
