package quantize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/source/regular"
	"github.com/memwall/memwall/unit"
)

// writeWeights writes the weights as a mixture, or one format, stores them. A name that is taken stays unless --force is
// given, and it holds nothing before all of the file is written and reads back as it was written.
func (w *work) writeWeights(ctx context.Context, m *quant.Model, all []*quant.Measured, stats *quant.Statistics, r *quant.Report) error {
	if err := w.free(); err != nil {
		return err
	}
	tensors, err := encoders(w.q, all, stats, r)
	if err != nil {
		return cannotWrite(w.Write, err)
	}
	out, err := w.output(m, tensors)
	if err != nil {
		return err
	}
	file, err := w.Create(w.Write)
	if err != nil {
		return cannotWrite(w.Write, err)
	}
	if err := w.writeOut(ctx, file, out); err != nil {
		file.Abandon()
		return cannotWrite(w.Write, err)
	}
	if err := file.Commit(); err != nil {
		return cannotWrite(w.Write, err)
	}
	r.Written, r.WrittenBytes = w.Write, out.Size()
	return nil
}

// free: nothing is called so yet, or may be replaced.
func (w *work) free() error {
	if w.Force || !w.Exists(w.Write) {
		return nil // what else may be wrong is said when the file is created
	}
	return bad("write", w.Write, w.Write+" is there already", "--force, or another name")
}

func cannotWrite(name string, err error) error {
	var known *memwall.Error
	if errors.As(err, &known) {
		return err
	}
	return &memwall.Error{Code: memwall.BadFile, Field: "write", Value: name,
		Message: fmt.Sprintf("%s is not written: %v", name, regular.Cause(err)),
		Hint:    "check the folder and the room on its disk"}
}

// encoders of all tensors: of the mixture, or of the one format.
func encoders(q *question, all []*quant.Measured, stats *quant.Statistics, r *quant.Report) (out []*quant.Encoder, err error) {
	of := map[string]*quant.Format{}
	if r.Mix != nil {
		for _, x := range r.Mix.Modules {
			of[x.Tensor], _ = quant.Find(x.Format)
		}
	}
	for _, m := range all {
		f := of[m.Name]
		if r.Mix == nil && m.Of(q.formats[0]) != nil {
			f = q.formats[0]
		}
		e, err := quant.NewEncoder(m, f, stats)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// output is a file of the kind that its name says.
func (w *work) output(m *quant.Model, tensors []*quant.Encoder) (*quant.Output, error) {
	hub := false
	for _, e := range tensors {
		hub = hub || e.Format != nil && e.Format.Family == quant.Hub
	}
	switch ext := strings.ToLower(filepath.Ext(w.Write)); {
	case ext == ".gguf" && m.GGUF == nil:
		return nil, bad("write", w.Write,
			"a GGUF file is made of one: these weights are safetensors, without what llama.cpp reads beside them",
			"convert_hf_to_gguf.py of llama.cpp, then memwall quant of what it writes")
	case ext == ".gguf" && !hub:
		return quant.NewGGUF(m, tensors)
	case ext == ".safetensors" && m.GGUF == nil && hub:
		return quant.NewSafetensors(tensors)
	}
	return nil, bad("write", w.Write,
		"files are written as .gguf in the formats of GGUF files, made of one, and as .safetensors in int8, made of such",
		"--write OUT.gguf, or --write OUT.safetensors --formats int8")
}

// writeOut writes and reads back.
func (w *work) writeOut(ctx context.Context, file File, out *quant.Output) error {
	p := newProgress(w.Progress, out.Size(), unit.Bytes(out.Size()))
	err := out.Write(file, 2*runtime.GOMAXPROCS(0), w.Parallel, func(n int64) bool {
		p.report(n)
		return ctx.Err() == nil
	})
	p.clear()
	if err != nil {
		return err
	}
	if back, ok := file.(io.ReaderAt); ok {
		return out.Verify(back)
	}
	return nil
}
