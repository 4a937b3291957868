package validation

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/validation/packed"
)

const (
	trainingRows    = packed.File("rows/train-memory.tsv")
	trainingSources = packed.File("rows/train-memory-sources.txt")
)

// TrainingRow is the measured memory of a training run, on the device that holds most unless its source says otherwise.
type TrainingRow struct {
	Line    int
	Source  string
	Model   string // id of the catalog; "" with Dims
	Dims    *Dims
	Machine string
	Ask     memwall.Request
	// Counter is what was read: allocated and reserved are torch's, nvidia-smi the driver's, unknown what nobody says.
	Counter string
	GiB     float64
	OOM     bool    // the run ended for want of memory
	SMI     float64 // GiB of nvidia-smi in the same run; 0 where it was not read
	// Rank is whose figure it is: of the first or the last stage of a pipeline, or of the one that holds most.
	Rank string
	// Refused says why the row cannot be used.
	Refused string
}

// Name is where the row stands.
func (r *TrainingRow) Name() string { return fmt.Sprintf("train-memory:%d", r.Line) }

// Trainings reads the measurements of training runs.
func Trainings() ([]TrainingRow, error) {
	return measurements(trainingRows, trainingSources, trainingRow, func(r *TrainingRow) *int { return &r.Line })
}

func trainingRow(c []string, sources []string) (r TrainingRow, err error) {
	if len(c) != 10 {
		return r, fmt.Errorf("%d columns", len(c))
	}
	r = TrainingRow{Model: c[0], Machine: c[2], Counter: c[4], Rank: c[7], Refused: c[9]}
	if c[1] != "" {
		if err = json.Unmarshal([]byte(c[1]), &r.Dims); err != nil {
			return r, err
		}
	}
	ask, err := memwall.Decode([]byte(c[3]))
	if err != nil {
		return r, err
	}
	r.Ask = *ask
	if r.OOM = c[5] == "oom"; !r.OOM && c[5] != "" {
		if r.GiB, err = strconv.ParseFloat(c[5], 64); err != nil {
			return r, err
		}
	}
	if c[6] != "" {
		if r.SMI, err = strconv.ParseFloat(c[6], 64); err != nil {
			return r, err
		}
	}
	n, err := strconv.Atoi(c[8])
	if err == nil && n < len(sources) {
		r.Source = sources[n]
	}
	return r, err
}

// Dims describes an unnamed model: a decoder of equal layers.
type Dims struct {
	Layers, Hidden, Heads, KV, FFN, Vocab, Positions int64
	Experts, Used                                    int64
	Tied, Bias, Gated, RMS, Parallel                 bool
	EmbedNorm                                        bool `json:"embed_norm"`
	FusedQKV                                         bool `json:"fused_qkv"`
}

// Model that the dimensions describe.
func (d *Dims) Model() *model.Model {
	norm := family.LayerNormBias
	if d.RMS {
		norm = family.RMS
	}
	head := d.Hidden / d.Heads
	a := family.Attention{Heads: d.Heads, KVHeads: d.KV, DimK: head, DimV: head, NoRope: d.Positions > 0, Fused: d.FusedQKV, BiasQ: d.Bias,
		BiasKV: d.Bias, BiasOut: d.Bias}
	l := family.Layer{Norm: norm, Attn: a}
	if d.Parallel {
		l.Place = family.Parallel2
	}
	act := family.GELU
	if d.Gated {
		act = family.SiLU
	}
	if d.Experts > 0 {
		l.MoE = family.MoE{Experts: d.Experts, Used: d.Used, Inner: d.FFN, Gated: d.Gated, Act: act}
	} else {
		l.FFN = family.MLP{Inner: d.FFN, Gated: d.Gated, Act: act, Bias: d.Bias}
	}
	s := &family.Spec{Arch: "Dims", Family: "gpt2", Vocab: d.Vocab, Hidden: d.Hidden, Context: max(d.Positions, 2048), Tied: d.Tied,
		Positions: d.Positions, OutNorm: norm}
	if d.KV == 1 {
		s.Family = "starcoder"
	} else if d.RMS {
		s.Family = "granite"
	}
	if d.EmbedNorm {
		s.EmbedNorm = norm
	}
	for range d.Layers {
		s.Layers = append(s.Layers, l)
	}
	return s.Model(s.Family)
}

// Job is the row's question.
func (r *TrainingRow) Job() (*train.Job, error) {
	ask := r.Ask
	j := &train.Job{Plan: &ask.Plan, Training: &ask.Training}
	var err error
	if r.Dims != nil {
		j.Model = r.Dims.Model()
	} else if j.Model, err = catalog.Model(r.Model); err != nil {
		return nil, err
	}
	if r.Machine != "" {
		m, _, err := hardware.Parse(r.Machine, int(max(1, ask.Devices)))
		if err != nil {
			return nil, err
		}
		j.Machine = &m
	} else {
		j.Plan.DP = max(j.Plan.DP, max(1, ask.Devices)/max(1, j.Plan.Ranks()/max(1, j.Plan.DP)))
	}
	return j, nil
}

// Read picks the rank whose figure was measured.
func (r *TrainingRow) Read(ranks []train.Rank) *train.Rank {
	found := &ranks[0]
	for i := range ranks {
		if s := ranks[i].Stage; r.Rank == "last" && s > found.Stage || r.Rank == "first" && s < found.Stage {
			found = &ranks[i]
		}
	}
	return found
}

// Predict sizes the row's run, the ranks that hold most first.
func (r *TrainingRow) Predict() ([]train.Rank, error) {
	j, err := r.Job()
	if err != nil {
		return nil, err
	}
	if err := train.Defaults(j); err != nil {
		return nil, err
	}
	if err := train.Check(j); err != nil {
		return nil, err
	}
	s, err := train.Compile(j)
	if err != nil {
		return nil, err
	}
	return s.Size(nil), nil
}
