package gguf

import "github.com/memwall/memwall/unit"

// Keys needed to read the rest of the file.
const (
	keyArchitecture = "general.architecture"
	keyAlignment    = "general.alignment"
	keySplitNo      = "split.no"
	keySplitCount   = "split.count"
	keySplitTensors = "split.tensors.count"
)

// general checks the keys that every reader needs: alignment and architecture.
func (d *decoder) general(f *File) {
	if d.err != nil {
		return
	}
	f.Alignment = d.alignment(f)
	p := f.find(keyArchitecture)
	switch {
	case p == nil && f.Split.No > 0:
		// Only the first file of a split model has the metadata.
	case p == nil:
		d.fail(d.w.Offset(), keyArchitecture, "this is not a model: give the model's own file",
			"%s is missing, so nothing says what the tensors are for", keyArchitecture)
	case f.Type(keyArchitecture) != "string":
		d.damaged(p.at, keyArchitecture, "%s is of type %s, not string", keyArchitecture, f.Type(keyArchitecture))
	case f.Architecture() == "" || len(f.Architecture()) > maxName:
		d.damaged(p.at, keyArchitecture, "%s is a name of %d bytes; 1 to %d are allowed", keyArchitecture, p.n, maxName)
	}
}

// alignment returns the alignment, 32 bytes by default, in the only type that llama.cpp accepts.
func (d *decoder) alignment(f *File) int64 {
	p := f.find(keyAlignment)
	if p == nil {
		return defaultAlignment
	}
	n := int64(p.bits)
	switch {
	case f.Type(keyAlignment) != "u32":
		d.damaged(p.at, keyAlignment, "%s is of type %s, not u32", keyAlignment, f.Type(keyAlignment))
	case n <= 0 || n&(n-1) != 0:
		d.damaged(p.at, keyAlignment, "%s is %d, which is not a power of two", keyAlignment, n)
	}
	return n
}

// split reads which part of a model the file is, and checks it against the file's tensors.
func (d *decoder) split(f *File, tensors int64) {
	s := Split{
		No:      d.small(f, keySplitNo, maxSplits),
		Count:   d.small(f, keySplitCount, maxSplits),
		Tensors: d.small(f, keySplitTensors, maxInt32),
	}
	f.Split = s
	switch {
	case d.err != nil:
	case s.Count == 0 && s.No > 0 || s.Count > 0 && s.No >= s.Count:
		d.damaged(f.find(keySplitNo).at, keySplitNo, "%s is %d of %s %d; it counts from 0", keySplitNo, s.No, keySplitCount, s.Count)
	case s.Count > 1 && s.Tensors < tensors:
		d.damaged(d.w.Offset(), keySplitTensors, "%s is %d, but this file alone holds %d", keySplitTensors, s.Tensors, tensors)
	}
}

// small reads an integer from 0 to limit; 0 if the key is missing.
func (d *decoder) small(f *File, key string, limit int64) int64 {
	p := f.find(key)
	if p == nil || d.err != nil {
		return 0
	}
	n, ok := f.Int(key)
	switch _, unsigned := f.Uint(key); {
	case !ok && !unsigned:
		d.damaged(p.at, key, "%s is of type %s, not an integer", key, f.Type(key))
	case !ok:
		d.damaged(p.at, key, "%s is %s; at most %s is allowed", key, grouped(p.bits), unit.Count(limit))
	case n < 0 || n > limit:
		d.damaged(p.at, key, "%s is %s; 0 to %s are allowed", key, unit.Count(n), unit.Count(limit))
	}
	return n
}
