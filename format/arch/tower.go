package arch

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/model/family"
)

// roles are the roles of weights outside layers: of the first projection, later projections, norms and vectors.
type roles struct{ first, then, norm, vector dtype.Role }

var (
	beforeRoles = roles{dtype.VisionPatch, dtype.VisionPatch, dtype.VisionPreNorm, dtype.VisionClass}
	afterRoles  = roles{dtype.ProjectorIn, dtype.ProjectorOut, dtype.VisionPostNorm, dtype.VisionMask}
)

// towers reads vision and audio stacks, and embedding tables.
func (o *object) towers(s *family.Spec) {
	names := map[string]bool{}
	o.list("towers", func(n *yaml.Node, path string) {
		t := o.r.object(n, path)
		one := t.tower()
		t.close()
		if names[one.Name] {
			t.fail("name", quote(one.Name), "is the name of another tower", "another of vision, audio and tables")
		}
		names[one.Name] = true
		if one.Name == family.PartVision {
			s.Vision = one
		} else {
			s.Beside = append(s.Beside, one)
		}
	})
}

// tower reads one of them. Its attention is bidirectional, whatever the decoder's.
func (o *object) tower() *family.Tower {
	defer func(outer bool) { o.r.encodes = outer }(o.r.encodes)
	o.r.encodes = true
	t := &family.Tower{Name: o.word("name", family.PartVision, family.PartVision, family.PartAudio, "tables"), Width: o.need("width"),
		Tokens: o.number("tokens", 0)}
	t.Before, t.After = o.weights("before", beforeRoles), o.weights("after", afterRoles)
	t.Layers = o.runs(t.Width, o.norm("norm", family.LayerNormBias))
	if len(t.Before)+len(t.Layers)+len(t.After) == 0 {
		o.missing("layers", "is missing, and so are before and after", "a tower has at least one of them")
	}
	return t
}

// weights reads what precedes or follows layers: projections, tables, norms and vectors, one per entry.
func (o *object) weights(key string, named roles) (out []family.Weight) {
	maps := 0
	o.list(key, func(n *yaml.Node, path string) {
		w := o.r.object(n, path)
		one := family.Weight{}
		switch {
		case w.has("map"):
			one.Role = named.first
			if maps > 0 {
				one.Role = named.then
			}
			maps++
			one.In, one.Out = w.pair("map", "[in, out]")
			one.Bias = w.flag("bias", false)
		case w.has("table"):
			one.Role, one.Use = dtype.Table, family.LooksUp
			one.In, one.Out = w.pair("table", "[rows, width]")
		case w.has("norm"):
			one.Role, one.Use, one.Norm, one.Out = named.norm, family.Norms, w.norm("norm", family.LayerNormBias), w.need("width")
		case w.has("vector"):
			one.Role, one.Use, one.In, one.Out = named.vector, family.MixesIn, 1, w.need("vector")
		default:
			w.known = []string{"map", "table", "norm", "vector"}
			w.close()
			w.fail("map", "", "is missing, and so are table, norm and vector", "an entry is one of them: {map: [768, 4096]}")
		}
		w.close()
		out = append(out, one)
	})
	return out
}

// pair reads two sizes.
func (o *object) pair(key, what string) (a, b int64) {
	l := o.get(key).Items()
	if len(l) != 2 {
		if n := o.nodes[key]; n != nil {
			o.fail(key, kindOf(n), "is not two sizes", what)
		}
		return 0, 0
	}
	sizes := &object{r: o.r, path: o.path, line: o.nodes[key].Line, nodes: map[string]*yaml.Node{key + "[0]": l[0], key + "[1]": l[1]}}
	return sizes.need(key + "[0]"), sizes.need(key + "[1]")
}
