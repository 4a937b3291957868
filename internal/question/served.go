package question

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/format"
)

// servedModel resolves the model by a server's own name for it, if the path it loads is on another machine and says
// nothing: "--model /mnt/model --served-model-name Qwen3-32B". It returns nil if neither helps.
func servedModel(r *api.Request, err error) *api.Resolved {
	var missing *api.Error
	if !errors.As(err, &missing) || missing.Code != api.UnknownModel {
		return nil
	}
	for _, arg := range r.EngineArgs {
		name, ok := strings.CutPrefix(arg, "--served-model-name ")
		for _, alias := range []string{"--alias ", "-a "} { // of llama.cpp
			if !ok {
				name, ok = strings.CutPrefix(arg, alias)
			}
		}
		if !ok {
			continue
		}
		served, err := Catalog{}.Model(strings.Trim(name, `'"`))
		if err != nil || served.Assumed || served.Guessed {
			return nil
		}
		served.Path = r.Model
		served.Notes = append(served.Notes, api.Note{Code: "name_read", Severity: "warn", Field: "model",
			Text: fmt.Sprintf("%s is not here: the server's own name for it says %s", format.Quote(r.Model), served.ID)})
		return served
	}
	return nil
}
