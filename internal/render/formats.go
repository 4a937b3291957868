package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// Formats draws the list of formats and recipes.
func Formats(plainOnes, blocks []*card.Format, recipes []*card.Recipe, measured []*card.Published, filter string, st Style) string {
	p := newPage(st)
	p.formats(&card.FormatList{Formats: plainOnes, Blocks: blocks, Recipes: recipes, Measured: measured}, filter)
	return p.String()
}

func (p *page) formats(l *card.FormatList, filter string) {
	plainOnes, blocks, recipes, measured := l.Formats, l.Blocks, l.Recipes, l.Measured
	p.heading(plural(int64(len(plainOnes)+len(blocks)), "format", "formats")+", "+plural(int64(len(recipes)), "recipe", "recipes"), only(measured, filter), matching(filter))
	p.para(pad(gap), say("a format stores numbers, a recipe says which tensor gets which"+map[bool]string{false: "; memwall formats NAME shows one"}[p.st.endless], dim))
	p.plainFormats(plainOnes)
	p.blockFormats(blocks)
	p.recipes(recipes)
	p.measuredOnly(measured, filter)
}

func (p *page) plainFormats(list []*card.Format) {
	if len(list) == 0 {
		return
	}
	tb := &table{sides: []side{left, right, decimal, left, right, right, right}}
	tb.row(say("format", bold), say("bits", dim), say("GiB per 1B", dim), say("± e f", dim), say("largest", dim), say("normal", dim), say("epsilon", dim))
	for _, f := range list {
		row := []text{formatName(f.Name), say(compact(f.Bits)), say(gib(f.PerBillion, 2))}
		if x := f.Float; x != nil {
			row = append(row, say("1 "+strconv.Itoa(x.Exponent)+" "+strconv.Itoa(x.Fraction)), say(power(x.Largest)), say(power(x.SmallestNormal)), say(power(x.Epsilon)))
		}
		tb.row(row...)
	}
	p.blank()
	p.add(tb)
}

func (p *page) blockFormats(list []*card.Format) {
	if len(list) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal, left}}
	tb.row(say("blocks of GGUF", bold), say("bits", dim), say("GiB per 1B", dim), say("one block", dim))
	for _, f := range list {
		block := fmt.Sprintf("%d in %d B", f.Elements, f.Block)
		if p.st.width() >= 110 {
			block += ": " + f.Layout
		}
		tb.row(formatName(f.Name), say(bits(f.Bits)), say(gib(f.PerBillion, 2)), say(block, dim))
	}
	p.blank()
	p.add(tb)
}

func (p *page) recipes(list []*card.Recipe) {
	if len(list) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal, left, left}, remark: true}
	tb.row(say("recipe", bold), say("bits", dim), say("8B, GiB", dim), say("files", dim), nil)
	for _, r := range list {
		whole := ""
		if len(r.On) > 0 {
			whole = gib(r.On[0].Bytes, 2)
		}
		tb.row(formatName(r.Name), say(bits(r.Bits)), say(whole), say(r.Store), say(r.Note, dim))
	}
	p.blank()
	p.add(tb)
	p.blank()
	p.para(pad(gap), say("bits: an element of the matrices that the recipe is about, scales included. 8B: the whole of "+firstModel(list[0])+", with the tensors that get more bits or are left alone.", dim))
}

func firstModel(r *card.Recipe) string {
	if len(r.On) == 0 {
		return "a model"
	}
	return r.On[0].Name
}

// bits prints bits of an element, scales included.
func bits(x float64) string {
	s := strconv.FormatFloat(x, 'f', 3, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// power prints a number of any size in three digits: 65,504 stays whole.
func power(x float64) string {
	if x >= 1 && x < 1e5 && x == math.Trunc(x) {
		return unit.Count(int64(x))
	}
	if x >= 1e-3 && x < 1e5 {
		return strings.TrimRight(strings.TrimRight(unit.Significant(x, 3), "0"), ".")
	}
	s := strconv.FormatFloat(x, 'e', 2, 64)
	head, exp, _ := strings.Cut(s, "e")
	sign := strings.TrimPrefix(exp[:1], "+")
	return head + "e" + sign + strings.TrimLeft(exp[1:], "0")
}

// Format draws the card of a format.
func Format(f *card.Format, st Style) string {
	p := newPage(st)
	p.format(f)
	return p.String()
}

func (p *page) format(f *card.Format) {
	p.heading(f.Name, shape(f), gib(f.PerBillion, 2)+" GiB per 1B parameters")
	if f.Why != "" {
		p.para(pad(gap), say(capital(f.Why)))
	}
	p.bitTable(f)
	p.blank()
	p.labelled("block", blockText(f))
	p.labelled("native", f.Native)
	p.labelled("not native", f.Not)
	p.labelled("training", f.Scaling)
	p.labelled("stored by", f.StoredBy)
	p.labelled("recipes", strings.Join(f.Recipes, ", "))
	p.labelled("source", f.Source)
	if r := f.Recipe; r != nil {
		p.wholeModels("the recipe "+r.Name, r)
		p.quality("recipe against 16 bits", r.Name, r.Quality)
		p.method("the recipe", r.Method)
	}
	p.quality("cache against 16 bits", f.Name, f.CacheQuality)
	p.method("as a KV cache", f.Cache)
}

// shape is the bits in words.
func shape(f *card.Format) string {
	s := bits(f.Bits) + " bits"
	if x := f.Float; x != nil {
		s += ": 1 sign, " + strconv.Itoa(x.Exponent) + " exponent, " + strconv.Itoa(x.Fraction) + " fraction"
	} else if f.Elements > 1 {
		s += ", scales included"
	}
	return s
}

func blockText(f *card.Format) string {
	if f.Elements == 1 && f.Layout == "" {
		return ""
	}
	s := strconv.FormatInt(f.Elements, 10) + " elements in " + plural(f.Block, "byte", "bytes")
	if f.Elements == 1 {
		return f.Layout
	}
	return joined([]string{s, f.Layout}, ": ")
}

// bitTable draws the bits of a floating-point format beside those of its neighbours.
func (p *page) bitTable(f *card.Format) {
	if f.Float == nil {
		return
	}
	list := []*card.Format{f}
	if f.Beside != nil && f.Beside.Float != nil {
		list = append(list, f.Beside)
	}
	if f.Name != "f32" && (f.Beside == nil || f.Beside.Name != "f32") {
		if x := card.FormatOf("f32"); x != nil {
			list = append([]*card.Format{x}, list...)
		}
	}
	tb := &table{sides: []side{left, left, left, left, right, right, right}}
	wide := p.st.width() >= 76
	tb.row(nil, say("±", dim), say("exponent", dim), say("fraction", dim), say("largest", dim), say("smallest normal", dim), say("epsilon", dim))
	if !wide {
		tb.rows[0][5] = say("normal", dim)
	}
	for _, x := range list {
		name := say(x.Name)
		if x.Name == f.Name {
			name = say(x.Name, bold)
		}
		tb.row(name, say("█", inkSystem), say(run("▓", x.Float.Exponent, 8), inkCache), say(run("▒", x.Float.Fraction, 10), inkWorking), say(power(x.Float.Largest)), say(power(x.Float.SmallestNormal)), say(power(x.Float.Epsilon)))
	}
	p.blank()
	p.add(tb)
}

// run draws n bits, or says how many when they are more than most.
func run(glyph string, n, most int) string {
	if n > most {
		return glyph + "×" + strconv.Itoa(n)
	}
	return strings.Repeat(glyph, n)
}

// Recipe draws the card of a recipe.
func Recipe(r *card.Recipe, st Style) string {
	p := newPage(st)
	p.recipe(r)
	return p.String()
}

func (p *page) recipe(r *card.Recipe) {
	title := r.Title
	if strings.EqualFold(title, r.Name) {
		title = ""
	}
	p.heading(r.Name, title, bits(r.Bits)+" bits in the bulk, "+r.Base, storeText(r.Store))
	p.para(pad(gap), say(recipeLine(r)))
	p.wholeModels("whole model", r)
	p.quality("quality against 16 bits", r.Name, r.Quality)
	p.method("", r.Method)
	p.blank()
	p.labelled("also called", strings.Join(r.Aliases, ", "))
	p.goesOn("memwall fit llama-3.1-8b --weights " + r.Name + " --on rtx-4090")
}

// wholeModels is a recipe on common models.
func (p *page) wholeModels(head string, r *card.Recipe) {
	if len(r.On) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal}}
	tb.row(say(head, bold), say("GiB", dim), say("bits", dim))
	for _, x := range r.On {
		tb.row(say(x.Name), say(gib(x.Bytes, 2)), say(unit.Fixed(x.Bits, 2)))
	}
	p.blank()
	p.add(tb)
}

func storeText(s string) string {
	switch s {
	case "gguf":
		return "GGUF files"
	case "mlx":
		return "MLX checkpoints"
	}
	return "checkpoints of the hub"
}

func recipeLine(r *card.Recipe) string {
	if r.Note != "" {
		return r.Note
	}
	if r.Store == "gguf" {
		return "single tensors get more or fewer bits by what they are for and where they sit"
	}
	return "every tensor in " + r.Base
}
