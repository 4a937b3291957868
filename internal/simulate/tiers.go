package simulate

import (
	"cmp"
	"fmt"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/unit"
)

// level is a tier below the device: where it lies, the rows that it has and none above it does, and how long so many take to the
// device.
type level struct {
	on    string // host or nvme
	own   int64
	hits  int32 // requests that begin with a row before it is kept; 0 keeps all
	fetch func(rows int64) float64
}

// chain are the tiers as they are played; nil of none.
func chain(levels []level) *sim.Tier {
	if len(levels) == 0 {
		return nil
	}
	return &sim.Tier{Rows: levels[0].own, Fetch: levels[0].fetch, Below: chain(levels[1:]), Hits: levels[0].hits}
}

// cacheTiers are the tiers that keep what is evicted: each rank keeps its own part of a row, and reads it over its own link. The plan's
// own host memory for it counts where the request says no other.
func (p *Player) cacheTiers(r *api.Request) (err error) {
	size := unit.Bytes(r.KVTier)
	if size == 0 && p.Stream == nil && p.rules.PrefixCache {
		size = p.hostTier()
	}
	if r.KVTierDisk > 0 && (size == 0 || r.KVTierOn == "nvme") {
		return &api.Error{Code: api.BadField, Field: "kv_tier_disk_bytes", Value: unit.Bytes(r.KVTierDisk).String(),
			Message: "kv_tier_disk_bytes: it keeps what a tier in host memory evicts, and there is none",
			Hint:    "--kv-tier 64GB beside it; or --kv-tier with --kv-tier-on nvme for a disk alone"}
	}
	if err = p.checkStore(r); err == nil {
		p.tiers, err = p.tiersOf(size, unit.Bytes(r.KVTierDisk))
	}
	return err
}

// hostTier is what the plan keeps in host memory of the cache that the device evicts, on all ranks together.
func (p *Player) hostTier() unit.Bytes {
	t := p.rules.HostTier
	if t.Pools > 0 {
		t.Bytes = unit.Bytes(t.Pools * float64(p.deviceRows()) * p.rowBytes())
	}
	return t.Bytes * unit.Bytes(p.ranks())
}

// ranks that hold a part of each row.
func (p *Player) ranks() int64 {
	return max(1, p.Question.Request.TP) * max(1, p.Question.Request.PP)
}

// rowBytes are those of a row on one rank.
func (p *Player) rowBytes() float64 {
	return float64(p.paging(Variant{}).BlockTokens) * float64(p.KV.PerToken)
}

// deviceRows are the rows that the device has room for.
func (p *Player) deviceRows() int64 {
	page := p.paging(Variant{})
	return page.Blocks / max(1, page.Full)
}

// tiersOf so many bytes, nearest first. With write-through, the default, a tier has all that is above it, too: LRU at each of
// them keeps the same as tiers without copies, of which each has the rows that its size exceeds those above by (Mattson et al.
// 1970, inclusion). So a host tier no larger than the device's pool earns nothing, for which SGLang refuses it
// (mem_cache/memory_pool_host.py).
func (p *Player) tiersOf(host, disk unit.Bytes) (out []level, err error) {
	r := &p.Question.Original
	above, hits := int64(0), hitsOf(r)
	if r.KVTierPolicy != "write-back" && hits == 0 && host+disk > 0 {
		above = p.deviceRows()
	}
	for _, t := range []struct {
		size      unit.Bytes
		on, field string
	}{{host, cmp.Or(r.KVTierOn, "host"), "kv_tier_bytes"}, {disk, "nvme", "kv_tier_disk_bytes"}} {
		if t.size <= 0 {
			continue
		}
		l, err := p.level(t.size, t.on, t.field)
		if err != nil {
			return nil, err
		}
		rows := l.own
		if len(out) == 0 {
			l.hits = hits
		}
		if l.own -= above; r.KVTierPolicy != "write-back" {
			above = max(above, rows)
		}
		if l.own > 0 {
			out = append(out, l)
		}
	}
	return out, nil
}

// hitsOf a policy that keeps what is asked for again: SGLang's takes the second request (mem_cache/hiradix_cache.py,
// write_through_threshold).
func hitsOf(r *api.Request) int32 {
	if r.KVTierPolicy == "write-through-selective" {
		return 2
	}
	return 0
}

// storeLink is what a replica's device reads of a store where nobody says: 400 Gb/s.
const storeLink = unit.ByteRate(50e9)

// checkStore refuses a store of caches that nobody would ask for again, and says what is taken of one where nobody says it.
func (p *Player) checkStore(r *api.Request) error {
	switch {
	case r.KVStore == "" && r.KVStoreSize > 0:
		return &api.Error{Code: api.BadField, Field: "kv_store_bytes", Value: unit.Bytes(r.KVStoreSize).String(),
			Message: "kv_store_bytes: the size of a store, and none is named", Hint: "--kv-store mooncake"}
	case r.KVStore == "":
		return nil
	case p.Stream != nil || !p.rules.PrefixCache:
		return &api.Error{Code: api.BadField, Field: "kv_store", Value: r.KVStore,
			Message: "kv_store: nothing is asked for again where prefixes are not cached",
			Hint:    "vllm or sglang with their prefix cache, or leave it out"}
	}
	if p.storeSize() == 0 {
		p.Question.Job.Note("store_unbounded", "info", "kv_store_bytes",
			"the store of KV blocks is taken to keep all: --kv-store-size says how much")
	}
	if _, err := timing.LinkTo(p.Question, p.Question.Job.Device(0), "pool"); err != nil {
		p.Question.Job.Note("store_link", "info", "kv_store",
			"a device reads the store at %s, as over 400 Gb/s: --on …,pool=2TB@64GB/s sets yours", storeLink)
	}
	return nil
}

// store is what replicas share; nil of none.
func (p *Player) store() *sim.Store {
	r := &p.Question.Original
	if r.KVStore == "" || p.Stream != nil || !p.rules.PrefixCache {
		return nil
	}
	rate, err := timing.LinkTo(p.Question, p.Question.Job.Device(0), "pool")
	if err != nil {
		rate = storeLink
	}
	row := p.rowBytes()
	return &sim.Store{Rows: int64(float64(p.storeSize()) / (row * float64(p.ranks()))), Hits: hitsOf(r),
		Fetch: func(rows int64) float64 { return float64(rows) * row / float64(rate) }}
}

// storeSize is what is said, else what all ranks of all replicas contribute; 0 keeps all.
func (p *Player) storeSize() unit.Bytes {
	r, q := &p.Question.Original, &p.Question.Request
	if r.KVStoreSize > 0 {
		return unit.Bytes(r.KVStoreSize)
	}
	replicas := max(1, q.DP) * max(1, int64(r.Replicas)) * q.Workers()
	return unit.Bytes(float64(r.KVStoreSegment) * float64(p.ranks()) * float64(replicas))
}

// level is a tier of so many bytes in host memory or on NVMe, which a field of the request says.
func (p *Player) level(size unit.Bytes, where, field string) (level, error) {
	if p.Stream != nil || !p.rules.PrefixCache {
		return level{}, &api.Error{Code: api.BadField, Field: field, Value: size.String(),
			Message: field + ": nothing is evicted that could be asked for again",
			Hint:    "vllm or sglang with their prefix cache, or leave it out"}
	}
	rate, err := timing.LinkTo(p.Question, p.Question.Job.Device(0), where)
	if err != nil {
		return level{}, &api.Error{Code: api.Unsupported, Field: field, Value: where, Message: err.Error(),
			Hint: "--on …," + where + "=2TB@7GB/s, as the machine has it"}
	}
	row, ranks := p.rowBytes(), float64(p.ranks())
	if least := unit.Bytes(math.Ceil(row * ranks)); size < least {
		return level{}, &api.Error{Code: api.BadField, Field: field, Value: size.String(),
			Message: fmt.Sprintf("%s: a row of the cache takes %s on all ranks together, and the tier holds none", field, least),
			Hint:    "a few GiB"}
	}
	return level{on: where, own: int64(float64(size) / (row * ranks)),
		fetch: func(rows int64) float64 { return float64(rows) * row / float64(rate) }}, nil
}
