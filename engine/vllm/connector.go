package vllm

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// connector is --kv-transfer-config (vllm/config/kv_transfer.py, KVTransferConfig).
type connector struct {
	Name  string         `json:"kv_connector"`
	Role  string         `json:"kv_role"`
	Extra map[string]any `json:"kv_connector_extra_config"`
}

// connected reads a connector that keeps evicted caches in host memory: its size is that of --kv-offloading-size. Others, and those
// whose size stands elsewhere, are named as not read.
func (l *launch) connected(c *argv.Command) {
	if l.connector == "" {
		return
	}
	text := "--kv-transfer-config " + argv.Quote(argv.Blotted(l.connector))
	var k connector
	if before(c.Tag(), evicts) || json.Unmarshal([]byte(l.connector), &k) != nil || k.Role != "kv_both" && k.Role != "" {
		l.Unknown = append(l.Unknown, text)
		return
	}
	ranks := max(1, l.Plan.TP) * max(1, l.Plan.PP)
	l.Plan.KVStore = k.store(c)
	l.Plan.KVTierDisk = k.disk(c) * plan.Size(k.diskRanks(ranks))
	switch size, each := k.hostMemory(c); {
	case size <= 0 && l.Plan.KVStore != "":
		return
	case size <= 0:
		l.Unknown = append(l.Unknown, text)
		return
	case each:
		l.Plan.KVHost = size
	default:
		l.Plan.KVHost = size / plan.Size(ranks)
	}
	if strings.HasPrefix(k.Name, "LMCache") {
		l.Beside = append(l.Beside, "--kv-offloading-backend lmcache")
	}
}

// store is what replicas share: Mooncake's own connector, or LMCache's remote URL by its scheme (lmcache/v1/storage_backend/connector).
func (k *connector) store(c *argv.Command) string {
	if strings.HasPrefix(k.Name, "MooncakeStore") {
		return "mooncake"
	}
	url, _ := k.Extra["lmcache.remote_url"].(string)
	if v, ok := c.Getenv("LMCACHE_REMOTE_URL"); ok && url == "" {
		url = v
	}
	scheme, _, ok := strings.Cut(url, "://")
	if !ok || !strings.HasPrefix(k.Name, "LMCache") {
		return ""
	}
	known := map[string]string{"mooncakestore": "mooncake", "lm": "lmcache", "redis": "redis", "rediss": "redis", "fs": "file"}
	return cmp.Or(known[scheme], "other")
}

// disk is what a connector keeps on disk below the host's memory.
func (k *connector) disk(c *argv.Command) plan.Size {
	key := map[string]string{"LMCacheConnectorV1": "LMCACHE_MAX_LOCAL_DISK_SIZE", "DynamoConnector": "DYN_KVBM_DISK_CACHE_GB"}[k.Name]
	unitOf := 1e9
	v, _ := c.Getenv(key)
	if k.Name == "LMCacheConnectorV1" {
		unitOf = float64(unit.GiB)
		if x, ok := k.Extra["lmcache.max_local_disk_size"].(float64); ok {
			return bytesOf(x * unitOf)
		}
	}
	x, err := strconv.ParseFloat(v, 64)
	if key == "" || err != nil {
		return 0
	}
	return bytesOf(x * unitOf)
}

// diskRanks are the ranks that each have so much of it: LMCache's size is of a rank, Dynamo's of all.
func (k *connector) diskRanks(ranks int64) int64 {
	if k.Name == "LMCacheConnectorV1" {
		return ranks
	}
	return 1
}

// hostMemory is what a connector keeps there: for each rank, or for all together.
func (k *connector) hostMemory(c *argv.Command) (size plan.Size, each bool) {
	switch k.Name {
	case "LMCacheConnectorV1": // lmcache/config.py; lmcache/v1/cache_engine.py: GiB of each rank, 5 where nothing is said
		if _, ok := c.Getenv("LMCACHE_CONFIG_FILE"); ok {
			return 0, true
		}
		if v, ok := k.Extra["lmcache.max_local_cpu_size"].(float64); ok {
			return bytesOf(v * float64(unit.GiB)), true
		}
		if v, ok := c.Getenv("LMCACHE_MAX_LOCAL_CPU_SIZE"); ok {
			size, _ = argv.GiB[plan.Size](v) // 0 of what is no number
			return size, true
		}
		return plan.Size(5 * unit.GiB), true
	case "OffloadingConnector": // vllm/config/vllm.py, vllm/v1/kv_offload
		if v, ok := k.Extra["kv_bytes_per_rank"].(float64); ok {
			return bytesOf(v), true
		}
		v, _ := k.Extra["cpu_bytes_to_use"].(float64)
		return bytesOf(v), false
	case "DynamoConnector": // 10⁹ bytes, over blocks summed across all ranks (Dynamo, block_manager/distributed/leader.rs)
		v, _ := c.Getenv("DYN_KVBM_CPU_CACHE_GB")
		gb, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return 0, false
		}
		return bytesOf(gb * 1e9), false
	}
	return 0, false
}

// bytesOf is a size that a plan may have; 0 of others.
func bytesOf(v float64) plan.Size {
	if !(v > 0 && v < 1<<50) {
		return 0
	}
	return plan.Size(v)
}
