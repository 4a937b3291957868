package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/source/cache"
)

// Cache holds downloaded files.
type Cache interface {
	Contents(filter string) *cache.Contents
	Clear(filter string) (*cache.Contents, error)
}

// cache returns the command that lists or clears downloads.
func (a *app) cache() *cobra.Command {
	c := &cobra.Command{
		Use: "cache [FILTER]", Short: "the cache of files fetched from remote models",
		Long: "Holds file lists, configurations and headers of models on hubs and in registries, never weights. MEMWALL_CACHE sets another folder, or off; " +
			"MEMWALL_CACHE_SIZE sets its size (1GiB). The least recently used entries are removed first.",
		Example: "memwall cache\nmemwall cache qwen\nmemwall cache clear\nmemwall cache clear qwen",
		RunE: func(_ *cobra.Command, args []string) error {
			if a.Cache == nil {
				return noCache()
			}
			list := a.Cache.Contents(strings.Join(args, " "))
			return a.show(list, func(st term.Style) string { return cards.Cache(list, st) })
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "clear [FILTER]", Short: "remove all of it, or what matches", Example: "memwall cache clear\nmemwall cache clear qwen",
		RunE: func(_ *cobra.Command, args []string) error {
			if a.Cache == nil {
				return noCache()
			}
			gone, err := a.Cache.Clear(strings.Join(args, " "))
			if err != nil {
				return &memwall.Error{Code: memwall.Internal, Field: "cache", Message: "the cache cannot be cleared: " + err.Error(), Hint: "check the permissions of its folder"}
			}
			return a.show(gone, func(st term.Style) string { return cards.Cleared(gone, st) })
		},
	})
	return c
}

func noCache() error {
	return &memwall.Error{Code: memwall.Unsupported, Field: "cache", Message: "nothing is kept here", Hint: "unset MEMWALL_CACHE, or let it name a folder"}
}
