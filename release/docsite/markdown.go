package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is a Markdown page, read.
type page struct {
	source, out string // its path in the repository, and in the site
	title       string
	text        []byte
	doc         ast.Node
	headings    []heading
}

// heading is a heading with the anchor that GitHub gives it.
type heading struct {
	Text, ID string
	level    int
}

// parse reads a page and gives its headings their anchors.
func parse(source string, markdown []byte) *page {
	p := &page{source: source, out: address(source), title: source, text: markdown}
	p.doc = dialect.Parser().Parse(text.NewReader(markdown))
	seen := map[string]int{}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		said := strings.TrimSpace(p.plain(h))
		id := anchor(said)
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id]-1)
		}
		h.SetAttributeString("id", []byte(id))
		p.headings = append(p.headings, heading{said, id, h.Level})
	}
	if len(p.headings) > 0 {
		p.title = p.headings[0].Text
	}
	return p
}

// anchor is a heading as GitHub puts it into an address.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// has reports whether a page has an anchor.
func (p *page) has(id string) bool {
	for _, h := range p.headings {
		if h.ID == id {
			return true
		}
	}
	return false
}

// parts are the headings of the second level.
func (p *page) parts() (out []heading) {
	for _, h := range p.headings {
		if h.level == 2 {
			out = append(out, h)
		}
	}
	return out
}

// plain is the text of a node without its marks; blocks end in a space.
func (p *page) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, in bool) (ast.WalkStatus, error) { // the visitor gives no errors
		switch n := n.(type) {
		case *ast.Text:
			p.say(&b, n, in)
		case *ast.AutoLink:
			if in {
				b.Write(n.Label(p.text))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if in {
				b.Write(n.Lines().Value(p.text))
			}
		}
		if !in && n.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// say adds a text; in code, marks mean themselves.
func (p *page) say(b *strings.Builder, n *ast.Text, in bool) {
	said := n.Value(p.text)
	switch {
	case !in:
	case n.Parent().Kind() == ast.KindCodeSpan:
		b.Write(said)
	default:
		b.WriteString(html.UnescapeString(string(util.UnescapePunctuations(said))))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte(' ')
		}
	}
}

// html of a page's Markdown. Wide tables and code scroll by themselves, with the keys too.
func (p *page) html() ([]byte, error) {
	var b bytes.Buffer
	if err := dialect.Renderer().Render(&b, p.text, p.doc); err != nil {
		return nil, err
	}
	// The tags are the renderer's own: those of a text are escaped.
	return []byte(strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).Replace(b.String())), nil
}

// dialect is Markdown with GitHub's tables. HTML is text, and comments are nothing.
var dialect = goldmark.New(
	goldmark.WithParser(parser.NewParser(parser.WithBlockParsers(blocks()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))),
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(escaped{}, 1))))

// blocks are the kinds of blocks, of HTML comments alone.
func blocks() []util.PrioritizedValue {
	all, tags := parser.DefaultBlockParsers(), parser.NewHTMLBlockParser()
	for i := range all {
		if all[i].Value == tags {
			all[i].Value = comments{tags}
		}
	}
	return all
}

// comments are blocks of HTML that begin with a comment and have no text on the line that ends it. A line that begins with a comment and
// goes on is of a paragraph: a figure with its formula.
type comments struct{ parser.BlockParser }

func (c comments) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := r.PeekLine()
	line = bytes.TrimSpace(line)
	if end := bytes.Index(line, []byte("-->")); !bytes.HasPrefix(line, []byte("<!--")) || end >= 0 && end+3 < len(line) {
		return nil, parser.NoChildren
	}
	return c.BlockParser.Open(parent, r, pc)
}

// escaped renders HTML as the text that it is.
type escaped struct{}

func (escaped) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		return shown(w, n.(*ast.RawHTML).Segments.Value(source), in)
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		raw := n.Lines().Value(source)
		if block := n.(*ast.HTMLBlock); block.HasClosure() {
			raw = append(raw, block.ClosureLine.Value(source)...)
		}
		return shown(w, raw, in)
	})
}

var comment = regexp.MustCompile(`(?s)<!--.*?-->\n?`)

// shown writes HTML as text, without its comments.
func shown(w util.BufWriter, raw []byte, in bool) (ast.WalkStatus, error) {
	if !in {
		return ast.WalkContinue, nil
	}
	_, err := w.Write(util.EscapeHTML(comment.ReplaceAll(raw, nil)))
	return ast.WalkContinue, err
}
