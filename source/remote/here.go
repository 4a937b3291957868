package remote

import (
	"os"
	"path/filepath"

	"github.com/memwall/memwall/unit"
)

// Here is a Finder for the user of this machine, made when it is first asked.
func Here() *Lazy {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return &Lazy{options: Options{Env: os.Getenv, Home: home, Cache: CacheHere(os.Getenv)}}
}

// CacheHere is the cache of the user of this machine: MEMWALL_CACHE (off for none) or memwall among the user's caches,
// of MEMWALL_CACHE_SIZE bytes. nil: there is none.
func CacheHere(env func(string) string) *Cache {
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
	limit := unit.Bytes(DefaultLimit)
	if n, err := unit.ParseBytes(env("MEMWALL_CACHE_SIZE")); err == nil && n > 0 {
		limit = n
	}
	return NewCache(dir, int64(limit))
}
