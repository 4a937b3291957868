package cards

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Formats draws the list of formats and recipes.
func Formats(plainOnes, blocks []*card.Format, recipes []*card.Recipe, measured []*card.Published, filter string, st term.Style) string {
	p := term.NewPage(st)
	writeFormats(p, &card.FormatList{Formats: plainOnes, Blocks: blocks, Recipes: recipes, Measured: measured}, filter)
	return p.String()
}

func writeFormats(p *term.Page, l *card.FormatList, filter string) {
	plainOnes, blocks, recipes, measured := l.Formats, l.Blocks, l.Recipes, l.Measured
	p.Heading(term.Plural(int64(len(plainOnes)+len(blocks)), "format", "formats")+", "+
		term.Plural(int64(len(recipes)), "recipe", "recipes"), only(measured, filter), matching(filter))
	p.Para(term.Pad(term.Gap), term.Say("a format stores numbers, a recipe says which tensor gets which"+
		map[bool]string{false: "; memwall formats NAME shows one"}[p.Style.Endless], term.Dim))
	writePlainFormats(p, plainOnes)
	writeBlockFormats(p, blocks)
	writeRecipes(p, recipes)
	writeMeasuredOnly(p, measured, filter)
}

func writePlainFormats(p *term.Page, list []*card.Format) {
	if len(list) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Decimal, term.Left, term.Right, term.Right, term.Right}}
	tb.Row(term.Say("format", term.Bold), term.Say("bits", term.Dim), term.Say("GiB per 1B", term.Dim), term.Say("± e f", term.Dim),
		term.Say("largest", term.Dim), term.Say("normal", term.Dim), term.Say("epsilon", term.Dim))
	for _, f := range list {
		row := []term.Text{formatName(f.Name), term.Say(term.Compact(f.Bits)), term.Say(term.GiB(f.PerBillion, 2))}
		if x := f.Float; x != nil {
			row = append(row, term.Say("1 "+strconv.Itoa(x.Exponent)+" "+strconv.Itoa(x.Fraction)), term.Say(power(x.Largest)),
				term.Say(power(x.SmallestNormal)), term.Say(power(x.Epsilon)))
		}
		tb.Row(row...)
	}
	p.Blank()
	p.Add(tb)
}

func writeBlockFormats(p *term.Page, list []*card.Format) {
	if len(list) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left}}
	tb.Row(term.Say("blocks of GGUF", term.Bold), term.Say("bits", term.Dim), term.Say("GiB per 1B", term.Dim),
		term.Say("one block", term.Dim))
	for _, f := range list {
		block := fmt.Sprintf("%d in %d B", f.Elements, f.Block)
		if p.Style.Cells() >= 110 {
			block += ": " + f.Layout
		}
		tb.Row(formatName(f.Name), term.Say(bits(f.Bits)), term.Say(term.GiB(f.PerBillion, 2)), term.Say(block, term.Dim))
	}
	p.Blank()
	p.Add(tb)
}

func writeRecipes(p *term.Page, list []*card.Recipe) {
	if len(list) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left, term.Left}, Remark: true}
	tb.Row(term.Say("recipe", term.Bold), term.Say("bits", term.Dim), term.Say("8B, GiB", term.Dim), term.Say("files", term.Dim), nil)
	for _, r := range list {
		whole := ""
		if len(r.On) > 0 {
			whole = term.GiB(r.On[0].Bytes, 2)
		}
		tb.Row(formatName(r.Name), term.Say(bits(r.Bits)), term.Say(whole), term.Say(r.Store), term.Say(r.Note, term.Dim))
	}
	p.Blank()
	p.Add(tb)
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("bits: an element of the matrices that the recipe is about, scales included. 8B: the whole of "+
		firstModel(list[0])+", with the tensors that get more bits or are left alone.", term.Dim))
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
func Format(f *card.Format, st term.Style) string {
	p := term.NewPage(st)
	writeFormat(p, f)
	return p.String()
}

func writeFormat(p *term.Page, f *card.Format) {
	p.Heading(f.Name, shape(f), term.GiB(f.PerBillion, 2)+" GiB per 1B parameters")
	if f.Why != "" {
		p.Para(term.Pad(term.Gap), term.Say(term.Capital(f.Why)))
	}
	writeBitTable(p, f)
	p.Blank()
	p.Labelled("block", blockText(f))
	p.Labelled("native", f.Native)
	p.Labelled("not native", f.Not)
	p.Labelled("training", f.Scaling)
	p.Labelled("stored by", f.StoredBy)
	p.Labelled("recipes", strings.Join(f.Recipes, ", "))
	p.Labelled("source", f.Source)
	if r := f.Recipe; r != nil {
		writeWholeModels(p, "the recipe "+r.Name, r)
		writeQuality(p, "recipe against 16 bits", r.Name, r.Quality)
		writeMethod(p, "the recipe", r.Method)
	}
	writeQuality(p, "cache against 16 bits", f.Name, f.CacheQuality)
	writeMethod(p, "as a KV cache", f.Cache)
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
	s := strconv.FormatInt(f.Elements, 10) + " elements in " + term.Plural(f.Block, "byte", "bytes")
	if f.Elements == 1 {
		return f.Layout
	}
	return term.Joined([]string{s, f.Layout}, ": ")
}

// writeBitTable draws the bits of a floating-point format beside those of its neighbours.
func writeBitTable(p *term.Page, f *card.Format) {
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
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Left, term.Right, term.Right, term.Right}}
	wide := p.Style.Cells() >= 76
	tb.Row(nil, term.Say("±", term.Dim), term.Say("exponent", term.Dim), term.Say("fraction", term.Dim), term.Say("largest", term.Dim),
		term.Say("smallest normal", term.Dim), term.Say("epsilon", term.Dim))
	if !wide {
		tb.Rows[0][5] = term.Say("normal", term.Dim)
	}
	for _, x := range list {
		name := term.Say(x.Name)
		if x.Name == f.Name {
			name = term.Say(x.Name, term.Bold)
		}
		tb.Row(name, term.Say("█", term.InkSystem), term.Say(run("▓", x.Float.Exponent, 8), term.InkCache),
			term.Say(run("▒", x.Float.Fraction, 10), term.InkWorking), term.Say(power(x.Float.Largest)),
			term.Say(power(x.Float.SmallestNormal)), term.Say(power(x.Float.Epsilon)))
	}
	p.Blank()
	p.Add(tb)
}

// run draws n bits, or says how many when they are more than most.
func run(glyph string, n, most int) string {
	if n > most {
		return glyph + "×" + strconv.Itoa(n)
	}
	return strings.Repeat(glyph, n)
}

// Recipe draws the card of a recipe.
func Recipe(r *card.Recipe, st term.Style) string {
	p := term.NewPage(st)
	writeRecipe(p, r)
	return p.String()
}

func writeRecipe(p *term.Page, r *card.Recipe) {
	title := r.Title
	if strings.EqualFold(title, r.Name) {
		title = ""
	}
	p.Heading(r.Name, title, bits(r.Bits)+" bits in the bulk, "+r.Base, storeText(r.Store))
	p.Para(term.Pad(term.Gap), term.Say(recipeLine(r)))
	writeWholeModels(p, "whole model", r)
	writeQuality(p, "quality against 16 bits", r.Name, r.Quality)
	writeMethod(p, "", r.Method)
	p.Blank()
	p.Labelled("also called", strings.Join(r.Aliases, ", "))
	writeGoesOn(p, "memwall fit llama-3.1-8b --weights "+r.Name+" --on rtx-4090")
}

// writeWholeModels is a recipe on common models.
func writeWholeModels(p *term.Page, head string, r *card.Recipe) {
	if len(r.On) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal}}
	tb.Row(term.Say(head, term.Bold), term.Say("GiB", term.Dim), term.Say("bits", term.Dim))
	for _, x := range r.On {
		tb.Row(term.Say(x.Name), term.Say(term.GiB(x.Bytes, 2)), term.Say(unit.Fixed(x.Bits, 2)))
	}
	p.Blank()
	p.Add(tb)
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
