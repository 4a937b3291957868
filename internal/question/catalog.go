package question

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/naming"
)

// Catalog is the ModelSource of the built-in models.
type Catalog struct{}

// Model returns the catalog entry that a text names, in the format that it names.
func (Catalog) Model(ref string) (*api.Resolved, error) {
	read, err := catalog.Read(ref)
	if err != nil {
		return nil, err
	}
	return named(read)
}

// named returns the model that a text was read as: its name, storage, and assumptions.
func named(read *catalog.Reading) (*api.Resolved, error) {
	s, err := read.Spec()
	if err != nil {
		return nil, err
	}
	n := &read.Said
	r := &api.Resolved{ID: read.ID, Name: read.Name, Hub: read.Repo, Spec: s, Recipe: read.Weights, Format: "catalog",
		Stated: read.Format != "" || n.Repo != "", Assumed: read.Assumed, Guessed: len(read.Others) > 0}
	switch own := n.Repo != "" || n.Path || n.File != ""; {
	case n.Lacks != "" && read.Format == "":
		return nil, unstored(n.Lacks, read)
	case read.Format == "":
	case n.Ollama:
		r.Asked = read.Format
	case !own:
		r.Asked = read.Format
	default:
		r.Recipe = published(read)
	}
	if n.Path {
		r.Path = strings.TrimSpace(n.Text)
	} else if n.Repo == "" {
		r.Path = n.File // a bare name that does not exist here
	}
	r.Engine = loader(n, s, cmp.Or(r.Asked, r.Recipe))
	if n.GGUF && n.Repo != "" && r.Recipe != "" {
		r.File = n.Repo + ":" + strings.ToUpper(strings.TrimPrefix(r.Recipe, "gguf-"))
	}
	if read.Assumed || derived(read) {
		r.Name = n.Base
	} else if read.Tuned != "" {
		r.Name = read.Tuned
	}
	readNotes(r, read)
	return r, nil
}

// loader returns the program whose naming scheme was used: Ollama's, that of a GGUF file in 16 bits (which the format
// alone does not reveal), or that of MLX's community, whose 16-bit repositories state no format.
func loader(n *naming.Name, s *family.Spec, stored string) string {
	switch plain := dtype.FindRecipe(stored); {
	case n.Org == "mlx-community" && stored == "" && llamacpp.Loads(s.Family) && s.Layers[0].Cross.Heads == 0: // a text model
		return "mlx-lm"
	case n.Path && n.Ollama, !n.GGUF:
		return ""
	case n.Ollama:
		return "ollama"
	case plain != nil && plain.Store == dtype.Checkpoint:
		return "llama.cpp"
	}
	return ""
}

// derived reports whether a repository is not the vendor's: a fine-tune, or someone's copy. A copy may prefix the
// vendor (bartowski/Qwen_Qwen3-32B-GGUF).
func derived(read *catalog.Reading) bool {
	base := read.Said.Base
	_, own, _ := strings.Cut(read.Said.Repo, "/")
	if maker, _, ok := strings.Cut(own, "_"); ok {
		base = strings.TrimPrefix(base, strings.ToLower(maker)+"-")
	}
	bare := catalog.Bare(base)
	return read.Said.Repo != "" && bare != catalog.Bare(read.Hub) && bare != catalog.Bare(read.ID) && bare != catalog.Bare(read.Entry.Name)
}

// published returns the recipe stated by a repository's name, "" if it repeats that of the entry.
func published(read *catalog.Reading) string {
	native, own := dtype.FindRecipe(read.Format), dtype.FindRecipe(read.Weights)
	if native != nil && own != nil && native.Base == own.Base && native.Store == own.Store {
		return read.Weights
	}
	return read.Format
}

// readNotes notes how a name was interpreted, if it was not a plain lookup.
func readNotes(r *api.Resolved, read *catalog.Reading) {
	n := &read.Said
	add := func(code, severity, field, text string, args ...any) {
		r.Notes = append(r.Notes, api.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(text, args...)})
	}
	if read.Why != "" {
		severity := "info"
		if read.Assumed || len(read.Others) > 0 {
			severity = "warn"
		}
		also := ""
		if len(read.Others) > 0 {
			also = "; also " + strings.Join(read.Others, ", ")
		}
		add("name_read", severity, "model", "%s%s", read.Why, also)
	}
	stored := cmp.Or(r.Asked, r.Recipe)
	switch {
	case n.Path || n.File != "" && n.Repo == "":
		add("name_read", "warn", "model", "no file is read: the words of the path say %s%s; the file itself is exact", r.ID,
			in(cmp.Or(stored, s16(r))))
	case n.Repo != "" && read.Format != "":
		add("format_read", "info", "weights", "the name says %s; the repository's config.json or index is exact", stored)
	}
	if n.Loose != "" && read.Format != "" {
		add("format_assumed", "warn", "weights", "weights = %s: %s", stored, n.Loose)
	}
	r.Provenance = provenance(read)
}

func in(format string) string {
	if format == "" {
		return ""
	}
	return " in " + format
}

// s16 returns the format of an unquantized checkpoint.
func s16(r *api.Resolved) string {
	if r.Spec.Native == nil {
		return ""
	}
	return r.Spec.Native.Name
}

// provenance says where the figures come from, and that the format is taken from a name.
func provenance(read *catalog.Reading) string {
	from := "catalog: " + read.Source
	if read.Like != "" {
		from += " (described as " + read.Like + ")"
	}
	if read.Format != "" || read.Said.Path || read.Assumed {
		from += "; read from the name"
	}
	return from
}

// unstored rejects a named format whose storage is not described.
func unstored(format string, read *catalog.Reading) error {
	return &api.Error{Code: api.Unsupported, Field: "weights", Value: format,
		Message: fmt.Sprintf("%s is %s stored with %s, which no recipe describes", api.Shorten(read.Said.Text), read.ID, format),
		Hint:    "give its folder, whose files are exact, or the model as " + read.ID + " with --weights and a format near in size"}
}
