package remote

import (
	"os"
	"path/filepath"

	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/unit"
)

// Here is a Finder for the user of this machine, made when it is first asked, with a cache or nil for none.
func Here(kept *cache.Cache) *Lazy {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return &Lazy{options: Options{Env: os.Getenv, Home: home, Cache: kept}}
}

// CacheHere returns the user's cache on this machine: MEMWALL_CACHE (off for none) or memwall in the user's cache folder, bounded
// by MEMWALL_CACHE_SIZE bytes; nil if there is none.
func CacheHere(env func(string) string) *cache.Cache {
	dir := env("MEMWALL_CACHE")
	if dir == "off" {
		return nil
	}
	if dir == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(caches, "memwall")
	}
	limit := unit.Bytes(cache.DefaultLimit)
	if n, err := unit.ParseBytes(env("MEMWALL_CACHE_SIZE")); err == nil && n > 0 {
		limit = n
	}
	return cache.New(dir, int64(limit))
}
