package gguf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/format"
)

// Files of a split model have names ending in -00001-of-00003.gguf: llama_split_path of llama.cpp.
const (
	splitDigits = 5
	splitTail   = len("-00001-of-00003.gguf")
)

// SplitName parses the name of a file of a split model into the prefix before its number, the number from 1, and the
// number of files.
func SplitName(path string) (prefix string, no, count int, ok bool) {
	at := len(path) - splitTail
	if at < 0 {
		return "", 0, 0, false
	}
	tail := path[at:]
	no, okNo := digits(tail[1 : 1+splitDigits])
	count, okCount := digits(tail[10 : 10+splitDigits])
	switch {
	case !okNo || !okCount || no < 1 || no > count || count > maxSplits:
		return "", 0, 0, false
	case tail[0] != '-' || tail[6:10] != "-of-" || !strings.EqualFold(tail[15:], ".gguf"):
		return "", 0, 0, false
	}
	return path[:at], no, count, true
}

func digits(s string) (int, bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// ShardNames returns the names of all files of the split model that path belongs to, in order; nil if path is not a
// split file.
func ShardNames(path string) []string {
	prefix, _, count, ok := SplitName(path)
	if !ok {
		return nil
	}
	ext := path[len(path)-len(".gguf"):]
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%05d-of-%05d%s", prefix, i+1, count, ext)
	}
	return names
}

// Join returns one File for the files of a split model, given in order: the metadata of the first, the tensors of all.
// It does not modify its arguments. A single-file model is returned from that file alone.
func Join(files []*File) (*File, error) {
	if len(files) == 0 {
		return nil, joinError("", "no file is given", "give all files of the model")
	}
	if err := checkSplit(files); err != nil {
		return nil, err
	}
	all := *files[0]
	all.Size, all.Tensors, all.Shards, all.Gaps = 0, nil, nil, nil
	names := map[string]bool{}
	for i, f := range files {
		if err := all.add(f, i, names); err != nil {
			return nil, err
		}
	}
	return &all, nil
}

// add appends file i of a split model; names holds the tensors so far.
func (all *File) add(f *File, i int, names map[string]bool) error {
	if f.Size > math.MaxInt64-all.Size || f.Elements() > math.MaxInt64-all.Elements() {
		return joinError("", "the files together hold 2^63 elements or bytes or more", format.FetchAgain)
	}
	all.Size += f.Size
	all.Shards = append(all.Shards, Shard{Size: f.Size, DataOffset: f.DataOffset, Tensors: len(f.Tensors)})
	for _, t := range f.Tensors {
		if names[t.Name] {
			text := fmt.Sprintf("file %d: a tensor called %s is in an earlier file too", i+1, format.Quote(t.Name))
			return joinError(t.Name, text, fixShards)
		}
		names[t.Name] = true
		t.Shard = i
		all.Tensors = append(all.Tensors, t)
	}
	return nil
}

const fixShards = "give the files of one model, each once and in order"

func joinError(field, text, fix string) *Error {
	return &Error{Offset: format.NoOffset, Field: field, Text: text, Fix: fix}
}

// checkSplit performs llama.cpp's checks of a split model (src/llama-model-loader.cpp): each file has its number, all
// agree on the count, and the tensors add up.
func checkSplit(files []*File) error {
	first := files[0].Split
	if first.Count <= 1 && len(files) == 1 {
		return nil
	}
	if int64(len(files)) != first.Count {
		return joinError(keySplitCount, fmt.Sprintf("%d given of a model in %d files", len(files), first.Count), fixShards)
	}
	var tensors int64
	for i, f := range files {
		if want := (Split{No: int64(i), Count: first.Count, Tensors: first.Tensors}); f.Split != want {
			return joinError(keySplitNo, fmt.Sprintf("expected %s, got %s", want, f.Split), fixShards)
		}
		tensors += int64(len(f.Tensors))
	}
	if tensors != first.Tensors {
		return joinError(keySplitTensors, fmt.Sprintf("%d tensors in %d files; %s is %d", tensors, len(files), keySplitTensors,
			first.Tensors), format.FetchAgain)
	}
	return nil
}

// String formats the part counting from 1, as file names do.
func (s Split) String() string {
	return fmt.Sprintf("file %d of %d of a model with %d tensors", s.No+1, s.Count, s.Tensors)
}
