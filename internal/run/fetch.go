package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/remote"
	"github.com/memwall/memwall/unit"
)

// fetched is the server of a plan whose files have been brought here; that of before where they lie here already, or where the engine
// has a store of its own that it fetches into.
func (p *Plan) fetched(ctx context.Context, r *memwall.Request, s *Server) (*Server, error) {
	brought := false
	for _, ref := range []*string{&r.Model, &r.DraftModel, &r.MMProj} {
		from, err := p.far(*ref, s.Engine, ref == &r.MMProj)
		if err != nil {
			return s, err
		}
		if from == "" {
			continue
		}
		if p.Get == nil {
			return nil, fault("download", from, "nothing is downloaded here", "the path of a file")
		}
		if *ref, err = p.Get(ctx, from, p.downloading()); err != nil {
			return nil, err
		}
		brought = true
	}
	if !brought {
		return s, nil
	}
	return p.server(r)
}

// far is where the files of a model are fetched from; "" for one that lies here, and for Ollama, which has a store of its own. What goes
// beside a model is fetched from an address alone.
func (p *Plan) far(ref, engine string, beside bool) (string, error) {
	if ref == "" || engine == ollama {
		return "", nil
	}
	if beside {
		if scheme, _, ok := strings.Cut(ref, ":"); ok && len(scheme) > 1 {
			return ref, nil
		}
		return "", nil
	}
	m, err := p.Asker.Models.Model(ref)
	if err != nil {
		return "", err
	}
	switch gguf := strings.HasPrefix(engine, "llama") || engine == studio; {
	case m.Path != "":
		return "", nil
	case m.File != "":
		return "hf:" + m.File, nil
	case m.Address != "":
		return m.Address, nil
	case m.Library != "":
		return "ollama:" + m.Library, nil
	case !gguf && m.Hub != "":
		return "hf:" + m.Hub, nil
	}
	return "", fault("model", ref, ref+" names no file that could be downloaded for "+engine,
		cmp.Or(hubHint(m.Hub), "org/name-GGUF:Q4_K_M, or the address of a GGUF file"))
}

func hubHint(hub string) string {
	if hub == "" {
		return ""
	}
	return "a repository of GGUF files of " + hub + ": org/name-GGUF:Q4_K_M"
}

// downloading says how far downloads are, on a terminal as they go.
func (p *Plan) downloading() remote.Downloading {
	d := remote.Downloading{Folder: cmp.Or(p.Models, "models"), Begin: func(from string, files int, missing int64) {
		what := "1 file"
		if files != 1 {
			what = fmt.Sprintf("%d files", files)
		}
		p.say("fetching %s, %s, of %s\n", unit.Bytes(missing).String(), what, from)
	}}
	if p.Terminal {
		d.Told = func(name string, here, size int64) {
			p.say("\r\x1b[K  %3d %%  %s of %s  %s", 100*here/max(size, 1), unit.Bytes(here).String(), unit.Bytes(size).String(), name)
			if here == size {
				p.say("\n")
			}
		}
	}
	return d
}
