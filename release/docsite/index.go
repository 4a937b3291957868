package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// most is how much of a section's text is shown with a result, in characters.
const most = 110

// section is what is under one heading. The names are short because they stand a thousand times in the index.
type section struct {
	Page    int    `json:"p"`
	ID      string `json:"i,omitempty"`
	Heading string `json:"h,omitempty"`
	Lead    string `json:"l,omitempty"`
	Words   string `json:"w"` // each once, in lower case
}

// listed is a page in the index.
type listed struct {
	Link  string `json:"u"`
	Title string `json:"t"`
}

// index is what search.js searches, as a script: files on disk may not be fetched, but scripts there may be run.
func index(pages []*page) ([]byte, error) {
	all := struct {
		Pages    []listed  `json:"pages"`
		Sections []section `json:"sections"`
	}{}
	for i, p := range pages {
		all.Pages = append(all.Pages, listed{p.out, p.title})
		for _, s := range p.sections() {
			s.Page = i
			all.Sections = append(all.Sections, s)
		}
	}
	data, err := json.Marshal(all)
	return slices.Concat([]byte("globalThis.docs="), data, []byte(";\n")), err
}

// sections of a page: what is under each heading of the first three levels.
func (p *page) sections() (out []section) {
	var now section
	var b bytes.Buffer
	end := func() {
		now.Lead, now.Words = lead(b.String()), strings.Join(words(b.String()), " ")
		if b.Len() > 0 || now.Heading != "" {
			out = append(out, now)
		}
		b.Reset()
	}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 3 {
			end()
			id, _ := h.AttributeString("id")
			now = section{ID: string(id.([]byte)), Heading: strings.TrimSpace(p.plain(h))}
			continue
		}
		b.WriteString(p.plain(n))
	}
	end()
	return out
}

// lead is how a text begins.
func lead(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most])
		return text[:max(strings.LastIndexByte(text, ' '), 0)] + "…"
	}
	return text
}

// words of a text, each once: what search.js takes a question apart into.
func words(text string) (out []string) {
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
