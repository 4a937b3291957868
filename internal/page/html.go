package page

import (
	"strings"

	"github.com/memwall/memwall/safe"
)

// part is a part of an element: an attribute, a text, another element or markup that is known to be good.
type part interface{ into(*element) }

// element is an HTML element being put together. Texts and attributes are escaped when they are written, so that no
// word of a question or a file can become markup.
type element struct {
	name  string
	attrs []attr
	inner []part
}

type attr struct{ name, value string }

// txt is a text.
type txt string

// raw is markup that this program has made: a picture.
type raw string

// all are several parts.
type all []part

func (a attr) into(e *element)     { e.attrs = append(e.attrs, a) }
func (t txt) into(e *element)      { e.inner = append(e.inner, t) }
func (r raw) into(e *element)      { e.inner = append(e.inner, r) }
func (c *element) into(e *element) { e.inner = append(e.inner, c) }
func (l all) into(e *element) {
	for _, p := range l {
		if p != nil {
			p.into(e)
		}
	}
}

// el makes an element of its parts; nil is no part.
func el(name string, parts ...part) *element {
	e := &element{name: name}
	all(parts).into(e)
	return e
}

func class(names string) attr { return attr{"class", names} }
func id(name string) attr     { return attr{"id", name} }

// set is an attribute without a value.
func set(name string) attr { return attr{name, ""} }

// when is a part under a condition.
func when(yes bool, parts ...part) part {
	if !yes {
		return all(nil)
	}
	return all(parts)
}

var (
	escapeText = escaper{strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")}
	escapeAttr = escaper{strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")}
)

// escaper writes a text so that nothing in it is markup, or hides from a reader. What was pasted keeps its lines.
type escaper struct{ markup *strings.Replacer }

// Replace gives the text as it stands in a page.
func (e escaper) Replace(s string) string { return e.markup.Replace(safe.Text(s, "\n\r\t")) }

// void elements have no end.
var void = map[string]bool{"meta": true, "link": true, "input": true, "br": true}

// endless elements end where the next of their kind begins or their parent ends, which HTML lets their tag be left out for; tables are
// most of a long page.
var endless = map[string]bool{"td": true, "th": true, "tr": true}

func (e *element) write(b *strings.Builder) {
	b.WriteByte('<')
	b.WriteString(e.name)
	for _, a := range e.attrs {
		b.WriteByte(' ')
		b.WriteString(a.name)
		if a.value != "" {
			b.WriteString(`="`)
			b.WriteString(escapeAttr.Replace(a.value))
			b.WriteByte('"')
		}
	}
	b.WriteByte('>')
	for _, p := range e.inner {
		switch x := p.(type) {
		case txt:
			b.WriteString(escapeText.Replace(string(x)))
		case raw:
			b.WriteString(string(x))
		case *element:
			x.write(b)
		}
	}
	if !void[e.name] && !endless[e.name] {
		b.WriteString("</" + e.name + ">")
	}
}

// String is the element as HTML.
func (e *element) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}
