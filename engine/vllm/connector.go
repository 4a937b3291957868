package vllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// connector is --kv-transfer-config (vllm/config/kv_transfer.py, KVTransferConfig).
type connector struct {
	Name  string         `json:"kv_connector"`
	Role  string         `json:"kv_role"`
	Extra map[string]any `json:"kv_connector_extra_config"`

	c    *argv.Command
	file map[string]string // keys of the file of its own that a variable names
	open bool              // that file is not in the text
	each plan.Size         // ranks of the server
}

// connectorFiles are the variables that name a connector's own file.
var connectorFiles = map[string]string{"LMCacheConnectorV1": "LMCACHE_CONFIG_FILE", "MooncakeStoreConnector": "MOONCAKE_CONFIG_PATH"}

// connected reads a connector that keeps evicted caches in host memory: its size is that of --kv-offloading-size. Others, and those
// whose size stands elsewhere, are named as not read.
func (l *launch) connected(c *argv.Command) error {
	if l.connector == "" {
		return nil
	}
	text := "--kv-transfer-config " + argv.Quote(argv.Blotted(l.connector))
	p := &l.Plan
	k := connector{c: c, each: plan.Size(max(1, p.TP) * max(1, p.PP))}
	if json.Unmarshal([]byte(l.connector), &k) != nil || before(c.Tag(), k.since()) || k.Role != "kv_both" && k.Role != "" {
		l.Unknown = append(l.Unknown, text)
		return nil
	}
	var err error
	if k.file, k.open, err = manifest.Named(c, connectorFiles[k.Name]); err != nil {
		return err
	}
	if k.open {
		file, _ := c.Getenv(connectorFiles[k.Name])
		l.Unknown = append(l.Unknown, argv.ShownAs(connectorFiles[k.Name], file))
	}
	if p.KVStore = k.store(); p.KVStore == "mooncake" {
		each, err := k.segment()
		if err != nil {
			return err
		}
		p.KVStoreSegment = bytesOf(float64(each))
	}
	p.KVTierDisk = k.disk()
	switch size := k.hostMemory(); {
	case size <= 0 && p.KVStore != "":
		return nil
	case size <= 0:
		l.Unknown = append(l.Unknown, text)
		return nil
	default:
		p.KVHost = size
	}
	if strings.HasPrefix(k.Name, "LMCache") {
		l.Beside = append(l.Beside, lmcacheBackend)
		if v := k.lmcache("local_cpu"); strings.EqualFold(v, "false") || v == "0" { // allocated all the same, as a buffer for other tiers
			l.Unknown = append(l.Unknown, argv.ShownAs("LMCACHE_LOCAL_CPU", v))
		}
	}
	return nil
}

// lmcache is what LMCache is told of a key: by the connector, a variable or its file, the first that says it
// (lmcache/integration/vllm/utils.py, lmcache_get_or_create_config).
func (k *connector) lmcache(key string) string {
	if v, ok := k.Extra["lmcache."+key]; ok {
		return fmt.Sprint(v)
	}
	if v, ok := k.c.Getenv("LMCACHE_" + strings.ToUpper(key)); ok {
		return v
	}
	return k.file[key]
}

// store is what replicas share: Mooncake's own connector, or LMCache's remote URL by its scheme (lmcache/v1/storage_backend/connector).
func (k *connector) store() string {
	if strings.HasPrefix(k.Name, "MooncakeStore") {
		return "mooncake"
	}
	scheme, _, ok := strings.Cut(k.lmcache("remote_url"), "://")
	if !ok || !strings.HasPrefix(k.Name, "LMCache") {
		return ""
	}
	known := map[string]string{"mooncakestore": "mooncake", "lm": "lmcache", "redis": "redis", "rediss": "redis", "fs": "file"}
	return cmp.Or(known[scheme], "other")
}

// segment is what a rank gives of its memory to Mooncake's store; 0 where nothing says it, or all of it lies elsewhere
// (lmcache/v1/storage_backend/connector/mooncakestore_connector.py, vLLM's MooncakeStoreConfig).
func (k *connector) segment() (int64, error) {
	own, _ := k.Extra["global_segment_size"].(string)
	if x, ok := k.Extra["global_segment_size"].(float64); ok {
		own = fmt.Sprintf("%.0f", x)
	}
	v, _ := k.c.Getenv("MOONCAKE_GLOBAL_SEGMENT_SIZE")
	usual := "" // mooncake/store/worker.py, MooncakeStoreConfig
	if k.Name == "MooncakeStoreConnector" && k.file != nil && k.file["mode"] != "standalone-store" {
		usual = "4gb"
	}
	const key = "global_segment_size"
	return argv.Segment(key, cmp.Or(own, k.file["extra_config."+key], k.file[key], v, usual))
}

// disk is what a connector keeps on disk below the host's memory: LMCache's size is of each rank and counts where there is a place for
// it (lmcache/v1/storage_backend/__init__.py), Dynamo's is of all.
func (k *connector) disk() plan.Size {
	switch k.Name {
	case "LMCacheConnectorV1":
		size, _ := argv.GiB[plan.Size](k.lmcache("max_local_disk_size"))
		if where := k.lmcache("local_disk"); where == "" || where == "null" || where == "None" {
			return 0
		}
		return bytesOf(float64(size * k.each))
	case "DynamoConnector":
		return k.dynamo("DYN_KVBM_DISK_CACHE_GB")
	}
	return 0
}

// dynamo is a size in 10⁹ bytes, of all ranks together.
func (k *connector) dynamo(key string) plan.Size {
	v, _ := k.c.Getenv(key)
	gb, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return 0
	}
	return bytesOf(gb * 1e9)
}

// hostMemory is what a connector keeps there for each rank.
func (k *connector) hostMemory() plan.Size {
	switch k.Name {
	case "LMCacheConnectorV1": // lmcache/v1/config.py; lmcache/v1/cache_engine.py: GiB of each rank, 5 where nothing is said
		v := k.lmcache("max_local_cpu_size")
		if v == "" && !k.open {
			v = "5"
		}
		size, _ := argv.GiB[plan.Size](v) // 0 of what is not a number
		return size
	case "OffloadingConnector": // vllm/config/vllm.py, vllm/v1/kv_offload
		if v, ok := k.Extra["kv_bytes_per_rank"].(float64); ok {
			return bytesOf(v)
		}
		v, _ := k.Extra["cpu_bytes_to_use"].(float64)
		return bytesOf(v) / k.each
	case "DynamoConnector": // over blocks summed across all ranks (Dynamo, block_manager/distributed/leader.rs)
		return k.dynamo("DYN_KVBM_CPU_CACHE_GB") / k.each
	}
	return 0
}

// lmcacheBackend is the argument that has LMCache keep what --kv-offloading-size says.
const lmcacheBackend = "--kv-offloading-backend lmcache"

// engineArgs are those of the plan without one that the version does not have: its connector stands in the command.
func engineArgs(j *engine.Job) []string {
	if !j.Version.Before(evicts) {
		return j.Plan.EngineArgs
	}
	return slices.DeleteFunc(slices.Clone(j.Plan.EngineArgs), func(arg string) bool { return arg == lmcacheBackend })
}

// cacheSetting is the variable in front of the command that gives LMCache's size, in GiB of each rank.
func cacheSetting(j *engine.Job) string {
	if !byLMCache(j) {
		return ""
	}
	return "LMCACHE_MAX_LOCAL_CPU_SIZE=" + strconv.FormatFloat(unit.Bytes(j.Plan.KVHost).GiB(), 'f', -1, 64) + " "
}

// since is the first version whose connector is read.
func (k *connector) since() engine.Version {
	if k.Name == "LMCacheConnectorV1" {
		return caches
	}
	return evicts
}

// bytesOf is a size that a plan may have; 0 of others.
func bytesOf(v float64) plan.Size {
	if !(v > 0 && v < 1<<50) {
		return 0
	}
	return plan.Size(v)
}
