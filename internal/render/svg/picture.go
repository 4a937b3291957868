package svg

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/term"
)

// chartNarrow is how wide charts are drawn for telephones: what is in their margins falls away, so that letters keep
// their size on a screen of 360.
const chartNarrow = 360

// picture is a chart that is drawn at any width, below its finding.
type picture struct {
	title string // the finding
	under []string
	words string // what it shows
	style styles
	draw  func(*svgPage)
}

// Chart is a picture as a part of a page that has the styles: the finding, what is said of it, and it drawn for wide
// screens and for telephones.
type Chart struct {
	Title        string
	Under        []string
	Wide, Narrow string
}

// file is the picture by itself, with its finding.
func (p *picture) file() []byte {
	s := newPicture(svgWidth, svgRight)
	s.style = p.style
	s.headed(p.title, p.under)
	p.draw(s)
	s.y += svgMargin
	return (&drawing{s, p.title, p.words}).file()
}

// chart is the picture as a part of a page, so wide where there is room. The name tells it from others.
func (p *picture) chart(name string, wide int) Chart {
	return Chart{p.title, p.under, p.part(name+"-w", wide), p.part(name+"-n", chartNarrow)}
}

// part is the picture without its finding and its margins.
func (p *picture) part(name string, width int) string {
	s := newPicture(width, width-svgMargin)
	s.y = 0
	p.draw(s)
	return (&drawing{s, p.title, p.words}).cropped(name)
}

// cropped is part without the margins left and right.
func (d *drawing) cropped(name string) string {
	wide := d.width - 2*svgMargin
	return fmt.Sprintf(`<svg class="mw" viewBox="%d 0 %d %d" width="%d" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		svgMargin, wide, d.y+4, wide, name, name, name, escape(d.title), name, escape(d.words), d.b.String())
}

// letterRoom is left of words below a chart, for the letter that stands at their place.
const letterRoom = 20

// slim: drawn for a telephone, where words stand below and not beside.
func (s *svgPage) slim() bool { return s.width < svgWidth*3/4 }

// flags are where words beside a chart stand.
func (s *svgPage) flags() int {
	if s.slim() {
		return svgMargin + letterRoom
	}
	return flagsAt
}

// broken are words in so many lines at most that fit from a place to the margin.
func (s *svgPage) broken(words string, from int, letter float64, most int) (out []string) {
	wide := int(float64(s.width-svgMargin-from) / letter)
	for _, l := range term.Say(words).Wrap(wide) {
		out = append(out, strings.TrimSpace(l.String()))
	}
	if len(out) > most {
		out = out[:most]
		last := out[most-1]
		out[most-1] = last[:term.Prefix(last, wide-2)] + " …"
	}
	return out
}
