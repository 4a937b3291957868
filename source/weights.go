package source

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// weightFiles are open files with a model's tensors.
type weightFiles struct {
	quant.Model
	open []io.Closer
}

// Close closes the files.
func (w *weightFiles) Close() error {
	var errs []error
	for _, f := range w.open {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// OpenWeights opens the tensors of a file, folder or split model in safetensors or GGUF format. They are read lazily
// until the closer is closed.
func OpenWeights(ref string) (*quant.Model, io.Closer, error) {
	d := &disk{}
	file := home(filepath.ToSlash(ref))
	info, err := d.stat(file)
	if err != nil {
		return nil, nil, d.notFound(file, err)
	}
	w := &weightFiles{Model: quant.Model{ID: d.idOf(file)}}
	if info.IsDir() {
		err = w.folder(d, strings.TrimSuffix(file, "/")+"/")
	} else {
		err = w.file(d, file)
	}
	if err != nil {
		_ = w.Close() // the earlier error takes precedence
		return nil, nil, err
	}
	w.Identity = d.identity(path.Dir(file)+"/", w.Files)
	if info.IsDir() {
		w.Identity = d.identity(strings.TrimSuffix(file, "/")+"/", w.Files)
	}
	return &w.Model, w, nil
}

// identity identifies files by path, size and modification time.
func (d *disk) identity(dir string, names []string) string {
	var b strings.Builder
	for _, n := range names {
		if info, err := d.stat(dir + n); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", d.absolute(dir+n), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

func (w *weightFiles) folder(d *disk, dir string) error {
	names, err := d.list(dir)
	if err != nil {
		return err
	}
	c := sorted(names)
	switch {
	case c.index:
		s, err := d.indexed(dir + indexName)
		if err != nil {
			return err
		}
		return w.safetensors(d, s)
	case len(c.tensors) > 0:
		s, err := d.onlyTensors(dir, c.tensors)
		if err != nil {
			return err
		}
		return w.safetensors(d, s)
	case len(c.ggufs) > 0:
		for _, n := range c.ggufs[1:] {
			if gguf.ShardNames(n) == nil {
				return severalModels(dir, c.ggufs)
			}
		}
		return w.gguf(d, dir+c.ggufs[0])
	case len(c.pickles) > 0:
		return pickled(c.pickles[0])
	}
	return &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: dir, Message: fmt.Sprintf("folder %.200q holds no GGUF or safetensors files", dir), Hint: "give the folder of a model with its weights"}
}

func (w *weightFiles) file(d *disk, file string) error {
	switch strings.ToLower(path.Ext(file)) {
	case ".gguf":
		return w.gguf(d, file)
	case ".safetensors":
		s, err := d.shardsOf(file)
		if err != nil {
			return err
		}
		return w.safetensors(d, s)
	case ".bin", ".pt", ".pth", ".ckpt", ".pkl":
		return pickled(path.Base(file))
	}
	return badFile(path.Base(file), "", "holds no weights that can be read", "give a .safetensors or .gguf file, or the folder of a model")
}

func (w *weightFiles) safetensors(d *disk, s *shards) error {
	files, err := d.headers(s)
	if err != nil {
		return err
	}
	if _, err := s.tensors(files); err != nil { // each tensor once, and all that the index lists
		return err
	}
	for i, f := range files {
		r, err := d.open(s.dir + s.names[i])
		if err != nil {
			return err
		}
		w.open, w.Files = append(w.open, r), append(w.Files, s.names[i])
		for j := range f.Tensors {
			t := &f.Tensors[j]
			if owner, ok := s.owner[t.Name]; !ok || owner == s.names[i] {
				w.Tensors = append(w.Tensors, hubTensor(t, r, f.DataOffset(), s.names[i]))
			}
		}
	}
	return nil
}

// hubTensor treats all dimensions but the last two as a stack of matrices.
func hubTensor(t *safetensors.Tensor, r io.ReaderAt, data int64, file string) *quant.Tensor {
	q := &quant.Tensor{Name: t.Name, Stored: t.Format, Bytes: unit.Bytes(t.Bytes()), Data: r, Start: data + t.Begin, File: file, Dims: len(t.Shape), Shape: t.Shape, DType: t.DType, Layer: -1}
	q.Batch, q.Rows, q.Cols = 1, 1, 1
	for i, n := range t.Shape {
		switch len(t.Shape) - i {
		case 1:
			q.Cols = n
		case 2:
			q.Rows = n
		default:
			q.Batch *= n
		}
	}
	if n, ok := readName(t.Name); ok {
		q.Part, q.Layer = n.part, n.layer
		q.Role = roleOf(&n)
	}
	return q
}

// roleOf returns the role of a weight if its module has the same one in every family.
func roleOf(n *tensorName) dtype.Role {
	choices := forms("", n.scope(), n.module)
	if n.param != weight || len(choices) == 0 || len(choices[0]) != 1 {
		return ""
	}
	return choices[0][0].role
}

func (w *weightFiles) gguf(d *disk, file string) error {
	dir, name := path.Split(file)
	names := gguf.ShardNames(name)
	if names == nil {
		names = []string{name}
	}
	if err := d.complete(&shards{dir: dir, names: names}); err != nil {
		return err
	}
	files, err := each(names, d.atOnce(), func(n string) (*gguf.File, error) { return d.ggufHeader(dir + n) })
	if err != nil {
		return err
	}
	f, err := gguf.Join(files)
	if err != nil {
		return inFile(name, err)
	}
	if f.BigEndian {
		return badFile(name, "", "its numbers are big-endian", "convert it with gguf-py's gguf_convert_endian.py")
	}
	for _, n := range names {
		r, err := d.open(dir + n)
		if err != nil {
			return err
		}
		w.open, w.Files = append(w.open, r), append(w.Files, n)
	}
	w.GGUF, w.Head = f, w.open[0].(io.ReaderAt)
	for i := range f.Tensors {
		t := &f.Tensors[i]
		w.Tensors = append(w.Tensors, ggufTensor(f, t, w.open[t.Shard].(io.ReaderAt), names[t.Shard]))
	}
	return nil
}

func ggufTensor(f *gguf.File, t *gguf.Tensor, r io.ReaderAt, file string) *quant.Tensor {
	q := &quant.Tensor{Name: t.Name, Stored: t.Format, Bytes: unit.Bytes(t.Bytes), Data: r, Start: f.Start(t), File: file, Dims: len(t.Dims), Batch: 1, Rows: 1, Cols: t.Dims[0]}
	for i, n := range t.Dims[1:] {
		if i == 0 {
			q.Rows = n
		} else {
			q.Batch *= n
		}
	}
	q.Shape = slices.Clone(t.Dims)
	slices.Reverse(q.Shape)
	q.Role, q.Layer, q.Part = ggufRole(t.Name)
	return q
}

// ggufRole parses a name such as blk.3.attn_q.weight.
func ggufRole(name string) (role dtype.Role, layer int, part string) {
	stem, ok := strings.CutSuffix(name, ".weight")
	if !ok {
		return "", -1, ""
	}
	rest, ok := strings.CutPrefix(stem, "blk.")
	if !ok {
		return dtype.Role(stem), -1, partDecoder
	}
	number, role2, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return "", -1, ""
	}
	return dtype.Role(role2), n, partDecoder
}
