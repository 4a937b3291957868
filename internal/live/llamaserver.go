package live

import (
	"cmp"
	"strings"

	"regexp"
	"sync"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// What llama-server publishes (tools/server/README.md): in /props the model's file and its type, the slots and the length
// of each, the build; in the meta of /v1/models parameters and bytes of the file.
func readLlamaServer(p Pages) *startup.Log {
	l := &startup.Log{Engine: "llama-server"}
	props := p.json("/props")
	l.Named(ggufName(props.text("model_path")))
	l.Named(ggufName(props.text("model_alias")))
	l.Quant = props.text("model_ftype")
	if found := build().FindString(props.text("build_info")); found != "" {
		l.Version = found
	}
	slots := p.list("/slots")
	n, ok := props.integer("total_slots", plan.MaxSequences)
	if !ok {
		n = int64(len(slots))
	}
	each, ok := props.object("default_generation_settings").integer("n_ctx", plan.MaxContext)
	if len(slots) > 0 && !ok {
		each, _ = slots[0].integer("n_ctx", plan.MaxContext)
	}
	l.Plan.Sequences, l.Plan.Context = plan.Int(n), plan.Int(each)
	if list := p.json("/v1/models").objects("data"); len(list) > 0 {
		l.Named(ggufName(list[0].text("id")))
		fileFigures(l, list[0].object("meta"))
	}
	ended := typeInName(l.Models)
	l.Quant = cmp.Or(l.Quant, ended)
	for _, n := range l.Models {
		l.Named(strings.TrimRight(strings.TrimSuffix(n, ended), "-."))
	}
	latencies(l, p["/metrics"])
	l.Note("not_published", "llama-server does not publish how many layers lie on devices, nor the format of its cache: --ngl and --kv "+
		"say it where the defaults are wrong")
	return l
}

// build is the number in "b5716-d27b3ca1".
var build = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^b[0-9]{3,6}`) })

func fileFigures(l *startup.Log, meta object) {
	if n, ok := meta.integer("n_params", 1e16); ok {
		add(l, "parameter_count", "n_params", "", "parameters", float64(n), 0)
	}
	if n, ok := meta.integer("size", 1e16); ok {
		add(l, "file_bytes", "size of the tensors", "", "bytes", float64(n), 0)
	}
}

// typeInName is the end of a file's name, "Q4_K_M", where the server does not say the type; "" when it is not a type.
func typeInName(names []string) string {
	for _, n := range names {
		if i := strings.LastIndexAny(n, "-."); i > 0 && quantised().MatchString(n[i+1:]) {
			return n[i+1:]
		}
	}
	return ""
}

var quantised = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:(i?q|tq)[0-9]_[a-z0-9_]{1,6}|bf16|f16|f32|mxfp4)$`)
})
