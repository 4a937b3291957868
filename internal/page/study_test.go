package page

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/card"
)

// TestStudy: a study that runs is followed, one that is finished is not, and a site without one has no such page.
func TestStudy(t *testing.T) {
	spread := func(x float64) *card.Spread { return &card.Spread{Mean: x, P5: x, P50: x, P95: x} }
	s := &card.Study{ID: "1", Name: "cards & <racks>", Ask: "fit", Criterion: card.Fitting, Points: 3, Answered: 2, Factors: []string{"hardware"},
		Cases:    []card.StudyCase{{Designs: 2, Held: 2, Nearest: -1}},
		Measures: []card.StudyMeasure{{Name: "usd_per_hour"}, {Name: "decode_tokens_per_s", More: true}},
		Designs: []card.Design{{Levels: []string{"rtx-4090"}, Names: []string{"RTX 4090"}, Name: "RTX 4090", Seeds: 1, Held: 1, Front: true, Spreads: []*card.Spread{spread(0.4), spread(50)}},
			{Levels: []string{"h100"}, Names: []string{"H100"}, Name: "H100", Seeds: 1, Held: 1, Front: true, Spreads: []*card.Spread{spread(3), spread(140)}}}}
	var err error
	site := Site{Study: func(context.Context) (*card.Study, error) { return s, err }}
	page := func() Response { return site.Page(context.Background(), StudyPath, "", "") }
	got := page()
	for _, want := range []string{"cards &amp; &lt;racks&gt;", "2 of 3 questions answered", `<progress max="3" value="2"`, "data-live", ">RTX 4090<", "✓ RTX 4090", ">140<", `aria-current="page"`, `http-equiv="refresh"`, "<figure>"} {
		if !strings.Contains(got.HTML, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if first := site.Page(context.Background(), "/", "", ""); first.HTML != got.HTML {
		t.Error("the site does not open on its study")
	}
	s.Answered = 3
	if got = page(); strings.Contains(got.HTML, "data-live") || got.Status != 200 {
		t.Errorf("a finished study: %d", got.Status)
	}
	err = errors.New("the disk is gone")
	if got = page(); got.Status != 500 || !strings.Contains(got.HTML, "The disk is gone") {
		t.Errorf("an error: %d", got.Status)
	}
	site.Study = nil
	if got = page(); got.Status != 404 || strings.Contains(got.HTML, StudyPath) {
		t.Errorf("without a study: %d", got.Status)
	}
}
