package transformers

import (
	"math"
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

func gib(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.GiB)) }

type sizer struct {
	job   *engine.Job
	ranks []prepared
}

type prepared struct {
	pl      engine.Placed
	weights []engine.WeightSum
	others  []ledger.Item // towers and the like
	caches  caches
	widths  widths
}

// Sizer prepares the devices' layers.
func (Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	placed, err := j.PlaceDecoder(engine.Parallel(j.Plan))
	if err != nil {
		return nil, err
	}
	s := &sizer{job: j}
	for i := range placed {
		c := s.cachesOf(engine.WithDraft(j, &placed[i], placed[i].Kinds))
		s.ranks = append(s.ranks, prepared{pl: placed[i], weights: placed[i].WeightSums(),
			others: engine.OtherParts(nil, j, &placed[i], engine.Speaking), caches: c, widths: s.widthsOf(&placed[i], &c)})
	}
	return s, nil
}

// Size books a load.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	return engine.SizeRanks(s.ranks, func(p *prepared) engine.Rank { return s.rank(b, p, l) })
}

func (s *sizer) rank(b *ledger.Book, p *prepared, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, &p.pl)
	r.Items = append(make([]ledger.Item, 0, 4+parts), engine.BookWeights(b, p.weights, "file tensors as stored"))
	r.Items = append(r.Items, engine.Rebook(b, s.job, &p.pl, engine.Speaking, p.others)...)
	cached := p.caches.items(b, l)
	r.Items = append(r.Items, cached...)
	r.Items = append(r.Items, s.largest(b, &p.widths, l)...)
	r.Prints = prints(r.Items)
	r.Items = append(r.Items, driver(b, &p.pl))
	r.KV = engine.GrowingKV(unit.Bytes(math.Round(p.caches.perToken())), cached)
	return r
}

func driver(b *ledger.Book, pl *engine.Placed) ledger.Item {
	c, id, name := context, "driver", "CUDA context, cuBLAS"
	if pl.Parallel.TP > 1 {
		c, id, name = contextTP, "collectives", "CUDA context, cuBLAS, NCCL"
	}
	it := ledger.Known(id, name, b.Size("context", gib(c.value), "public logs of engines on PyTorch"), ledger.Measured, ledger.Persistent,
		ledger.Device, "device total less what is free before loading, public logs")
	return it.Band(gib(c.low), gib(c.high))
}

// prints is what torch says afterwards.
func prints(items []ledger.Item) []engine.Print {
	t := ledger.At(items, ledger.Device)
	return []engine.Print{{Name: "torch.cuda.max_memory_allocated", Value: t.Bytes.GiB(),
		Text: strconv.FormatFloat(t.Bytes.GiB(), 'f', 2, 64), Unit: "GiB", Low: t.Low.GiB(), High: t.High.GiB()}}
}
