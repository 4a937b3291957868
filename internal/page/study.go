package page

import (
	"cmp"
	"context"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
)

// StudyPath is the path of a site's study.
const StudyPath = "/study"

// study returns the page of a study's results so far. It follows a running study.
func (s *Site) study(ctx context.Context) Response {
	v := &view{site: s, ctx: ctx, question: &question{path: "study", name: "Study"}, title: "Study", request: &memwall.Request{},
		state: &state{ask: "study"}}
	got, err := s.Study(ctx)
	if err != nil {
		v.fail(err)
		v.add(v.failure())
		return Response{Status: v.status(), HTML: v.document()}
	}
	v.live = got.Answered < got.Points
	v.studied(got)
	return Response{Status: 200, HTML: v.document()}
}

func (v *view) studied(s *card.Study) {
	blocks := cards.StudyParts(s)
	v.title = "Study: " + cmp.Or(s.Name, s.ID)
	v.add(el("div", id("answer"), attr{"aria-live", "polite"}, el("h1", v.runs(blocks[0].Lead)),
		el("p", class("sub"), v.runs(blocks[0].Words)),
		el("progress", attr{"max", strconv.FormatInt(s.Points, 10)}, attr{"value", strconv.FormatInt(s.Answered, 10)},
			attr{"aria-label", "questions answered"})))
	v.parts(blocks[1:])
	if len(s.Measures) > 1 {
		v.add(chart(svg.StudyChart(s, "study")))
	}
}
