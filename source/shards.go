package source

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/safetensors"
)

// shards are the safetensors files of one model: names below dir, in order.
type shards struct {
	dir   string
	names []string
	// owner maps tensors to files, if there is an index.
	owner map[string]string
}

// numbered matches a file of a set: model-00001-of-00004.safetensors. Some totals have more digits (Kimi-K2:
// 00001-of-000062).
var numbered = regexp.MustCompile(`^(.*)-([0-9]{3,6})-of-([0-9]{3,6})\.safetensors$`)

const indexName = "model.safetensors.index.json"

// shardsOf returns the files that a .safetensors file belongs to: itself, or its numbered set.
func (d *disk) shardsOf(file string) (*shards, error) {
	dir, name := path.Split(file)
	hit := numbered.FindStringSubmatch(name)
	if hit == nil {
		return &shards{dir: dir, names: []string{name}}, nil
	}
	there, err := d.exists(dir + indexName)
	if err != nil {
		return nil, err
	}
	if there {
		s, err := d.indexed(dir + indexName)
		if err == nil && !slices.Contains(s.names, name) {
			return d.numberedSet(dir, hit)
		}
		return s, err
	}
	return d.numberedSet(dir, hit)
}

// numberedSet returns all files of a numbered set; missing ones are an error.
func (d *disk) numberedSet(dir string, hit []string) (*shards, error) {
	count, _ := strconv.Atoi(hit[3]) // at most six digits
	s := &shards{dir: dir}
	for i := 1; i <= count; i++ {
		s.names = append(s.names, fmt.Sprintf("%s-%0*d-of-%s.safetensors", hit[1], len(hit[2]), i, hit[3]))
	}
	if count == 0 || !slices.Contains(s.names, hit[0]) {
		return nil, badFile(hit[0], hit[3], fmt.Sprintf("file %s of %s is not a number that can be", hit[2], hit[3]), "give the file the name that it was published under")
	}
	return s, d.complete(s)
}

// indexed reads model.safetensors.index.json.
func (d *disk) indexed(file string) (*shards, error) {
	f, err := d.open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ix, err := safetensors.ReadIndex(f)
	if err != nil {
		return nil, inFile(path.Base(file), err)
	}
	dir, _ := path.Split(file)
	s := &shards{dir: dir, names: ix.Files(), owner: ix.WeightMap}
	if len(s.names) == 0 {
		return nil, badFile(path.Base(file), "", "the index names no file", format.FetchAgain)
	}
	return s, d.complete(s)
}

// complete checks that all files exist.
func (d *disk) complete(s *shards) error {
	var missing []string
	for _, n := range s.names {
		there, err := d.exists(s.dir + n)
		if err != nil {
			return err
		}
		if !there {
			missing = append(missing, n)
		}
		if len(missing) > most+1 {
			break
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return badFile(missing[0], "", fmt.Sprintf("of %d files these are missing: %s", len(s.names), listed(missing)), "fetch the missing files")
}

// most is the number of names that a message lists.
const most = 3

func listed(names []string) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// headers reads the header of every file.
func (d *disk) headers(s *shards) ([]*safetensors.File, error) {
	return each(s.names, d.atOnce(), func(name string) (*safetensors.File, error) {
		f, size, err := d.file(s.dir + name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		h, err := safetensors.Read(f, size)
		if err != nil {
			return nil, inFile(path.Base(name), err)
		}
		return h, nil
	})
}

// atOnce returns how many headers to read concurrently: enough to hide disk or network latency, bounded by the memory
// of the largest headers.
func (d *disk) atOnce() int {
	if d.far {
		return 32
	}
	return min(8, max(2, runtime.GOMAXPROCS(0)))
}

// each reads several things concurrently. Results are in the order of the names, and the error is that of the first
// name that failed.
func each[T any](names []string, atOnce int, read func(string) (T, error)) ([]T, error) {
	out, errs := make([]T, len(names)), make([]error, len(names))
	next := make(chan int)
	var running sync.WaitGroup
	for range min(len(names), atOnce) {
		running.Go(func() {
			for i := range next {
				out[i], errs[i] = read(names[i])
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
