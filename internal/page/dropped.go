package page

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/snapshot"
)

// SnapshotPage returns the page of a PyTorch memory snapshot dropped on a page whose core runs in the browser. It reads the
// snapshot as plain data, which no URL contains.
func SnapshotPage(ctx context.Context, s *Site, in io.Reader) Response {
	v := &view{site: s, ctx: ctx, question: questionAt("diagnose"), request: &memwall.Request{}, state: s.state("diagnose"),
		title: "Memory snapshot"}
	got, err := snapshot.Read(in)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		err = &memwall.Error{Code: memwall.BadFile, Field: "file", Message: e.Problem, Hint: e.Fix}
	}
	if err != nil {
		v.fail(err)
		v.add(v.failure())
		return Response{Status: v.status(), HTML: v.document()}
	}
	r := got.Report()
	blocks := cards.SnapshotParts(r)
	if i := slices.IndexFunc(blocks, func(b term.Block) bool { return b.Kind == term.Grid }); i > 0 {
		head := all{el("p", class("ans"), v.runs(blocks[0].Lead)), el("p", class("sub"), v.runs(blocks[0].Words))}
		for _, b := range blocks[1:i] {
			head = append(head, el("p", class("sub"), v.runs(b.Lead), v.runs(b.Words)))
		}
		v.add(el("div", id("answer"), attr{"aria-live", "polite"}, head))
		blocks = blocks[i:]
	}
	v.add(chart(svg.SnapshotChart(r, "snapshot")))
	v.parts(blocks)
	return Response{Status: 200, HTML: v.document()}
}
