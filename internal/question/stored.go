package question

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/naming"
)

// Storage of a hub checkpoint, from the method that an engine is given or prints and from the words of its name. A
// catalog entry's own checkpoint needs neither.

// IsHubName distinguishes a hub name from a path and other references.
func IsHubName(ref string) bool {
	if ref == "" || strings.ContainsAny(ref[:1], "./~\\") || strings.Contains(ref, ":") || strings.HasSuffix(ref, ".gguf") {
		return false
	}
	return strings.Count(ref, "/") <= 1
}

// ownCheckpoint reports whether a name is that of the entry's own checkpoint rather than a copy in another format.
func ownCheckpoint(method, ref string) bool {
	read, err := catalog.Read(ref)
	if err != nil {
		return false
	}
	if strings.EqualFold(ref, read.ID) || strings.EqualFold(ref, read.Hub) {
		return method == "" || method == "none" || read.Weights != "" // otherwise the engine quantizes on loading
	}
	return read.Said.Format == "" && read.Weights != ""
}

// methods are quantizations as vLLM and SGLang name them, if the name alone determines the recipe.
var methods = map[string]string{
	"awq": "awq", "awq_marlin": "awq", "bitsandbytes": "nf4", "mxfp4": "mxfp4", "gpt-oss-mxfp4": "mxfp4", "fp8": "fp8", "fbgemm_fp8": "fp8",
	"ptpc_fp8": "fp8",
	"sym_int4": "int4", "blockwise_int8": "int8",
	"modelopt_fp4": "nvfp4", "petit_nvfp4": "nvfp4", "modelopt_fp8": "fp8-tensor", "w8a8_int8": "int8", "w8a8_fp8": "fp8", "nvfp4": "nvfp4",
}

// StoredAs returns the recipe of a checkpoint; known is false if the method leaves it open.
func StoredAs(method, ref string) (recipe string, known bool) {
	method = strings.ToLower(method)
	if ownCheckpoint(method, ref) {
		return "", true
	}
	named := naming.Read(ref).Format
	if read, err := catalog.Read(ref); err == nil && read.Format != "" {
		named = read.Format // a repository's own row outweighs its author's habit
	}
	switch method {
	case "", "none":
		return named, true
	case "gptq", "gptq_marlin", "auto-round", "auto_round", "inc":
		if named == "gptq-int8" || named == "int8" {
			return "gptq-int8", true
		}
		return "gptq", true
	case "compressed-tensors":
		if named == "awq" || named == "gptq" {
			named = "int4" // its packed layout, whatever algorithm was used
		}
		return named, named != ""
	case "modelopt", "quark":
		return named, named != ""
	}
	if m, ok := methods[method]; ok {
		if (m == "fp8" || m == "nvfp4") && strings.HasPrefix(named, m) {
			m = named // the repository determines which weights have the format
		}
		return m, true
	}
	return named, named != ""
}

// libraryName returns the model's name in Ollama's library, if the plan's weights are as there.
func libraryName(r *api.Resolved, weights string) string {
	if weights != "" && weights != storedFormat(r) {
		return ""
	}
	return r.Library
}

// checkpointOnDisk returns a checkpoint on this machine, or on one of which only the path is known.
func checkpointOnDisk(r *api.Resolved, weights string) engine.Checkpoint {
	c := engine.Checkpoint{Name: r.Path, Stored: storedFormat(r), Library: libraryName(r, weights)}
	if r.Format == "gguf" || strings.HasSuffix(strings.ToLower(r.Path), ".gguf") {
		c.File = r.Path
	}
	return c
}

// publishedAs returns a repository with the model in a format that the vendor does not publish; "" if unknown, and for
// a fine-tuned model, which only shares the entry's shape.
func publishedAs(r *api.Resolved, weights string) string {
	repo := catalog.PublishedAs(r.ID, weights)
	if repo == "" || weights == storedFormat(r) {
		return ""
	}
	if e, err := catalog.Find(r.ID); err != nil || r.Hub != e.Hub {
		return ""
	}
	return repo
}

// checkpointOf returns how a command line refers to the model: the given hub name or path, else the catalog's hub name.
func checkpointOf(r *api.Resolved, ref, weights string) engine.Checkpoint {
	ref = strings.TrimPrefix(ref, "hf:")
	read := r.Format == "safetensors" || r.Format == "gguf"
	given := strings.Contains(ref, "/") && (IsHubName(ref) || read)
	switch {
	case r.Path != "": // its files say how it is stored; the name is not considered
		return checkpointOnDisk(r, weights)
	case r.Format == "catalog" && weights != "" && publishedAs(r, weights) != "":
		return engine.Checkpoint{Name: publishedAs(r, weights), Stored: weights, Library: catalog.InLibrary(r.ID, weights)}
	case r.Format == "catalog" && r.Hub != "":
		return engine.Checkpoint{Name: r.Hub, Stored: storedFormat(r), HubFile: r.File, Library: catalog.InLibrary(r.ID, weights)}
	case r.File != "" || read && r.Hub != "":
		return engine.Checkpoint{Name: r.Hub, Stored: storedFormat(r), HubFile: r.File}
	case r.Address != "" || r.Library != "":
		return engine.Checkpoint{Name: r.ID, Stored: storedFormat(r), Address: r.Address, Library: libraryName(r, weights)}
	case given && !strings.EqualFold(ref, r.Hub):
		c := engine.Checkpoint{Name: ref, Stored: storedFormat(r)}
		if named, known := StoredAs("", ref); known && named != "" {
			c.Stored = named
		}
		return c
	case r.Hub != "":
		return engine.Checkpoint{Name: r.Hub, Stored: storedFormat(r)}
	}
	return engine.Checkpoint{Name: r.ID, Stored: storedFormat(r)}
}
