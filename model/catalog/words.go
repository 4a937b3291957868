package catalog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/naming"
)

// wording is an entry's name as words.
type wording struct {
	place
	words []string
}

// worded are the names of all entries as words.
var worded = sync.OnceValue(func() (out []wording) {
	heads := headers()
	for i := range heads {
		for j, n := range heads[i].names {
			w := wording{place: place{head: &heads[i]}, words: wordsOf(n)}
			if j > 0 && strings.Contains(n, "/") {
				w.repo = n
			}
			if len(w.words) > 0 {
				out = append(out, w)
			}
		}
	}
	return out
})

// wordings by their first words.
var wordings = sync.OnceValue(func() map[string][]wording {
	out := map[string][]wording{}
	for _, w := range worded() {
		out[w.words[0]] = append(out[w.words[0]], w)
	}
	return out
})

// wordsOf a name: runs of letters and figures between marks, a version cut off the name that it is stuck to ("qwen3" and
// "qwen-3" are qwen 3), without fillers.
func wordsOf(name string) (out []string) {
	for _, w := range naming.Words(name[strings.LastIndexByte(name, '/')+1:]) {
		if fillers[w] {
			continue
		}
		if hit := stuck.FindStringSubmatch(w); hit != nil {
			out = append(out, hit[1], rounding(hit[2]))
			continue
		}
		out = append(out, rounding(w))
	}
	return out
}

// rounding is a version as people round it: "granite 4" is Granite 4.0.
func rounding(w string) string {
	if n, ok := strings.CutSuffix(w, ".0"); ok && figures.MatchString(n) {
		return n
	}
	return w
}

var (
	stuck   = regexp.MustCompile(`^([a-z]{3,})v?(\d+(?:\.\d+)*)$`)
	size    = regexp.MustCompile(`^\d+(\.\d+)?[bmt]$|^\d+x\d+b$|^[ae]\d+b$`)
	figures = regexp.MustCompile(`^\d+$`)
	dated   = regexp.MustCompile(`^\d{4}$`)
	context = regexp.MustCompile(`^\d+k$|^1m$`)
	version = regexp.MustCompile(`^\d+(\.\d+)*$`)
)

func isSize(w string) bool { return size.MatchString(w) && !strings.HasPrefix(w, "a") }

// leastSize is the least figure behind a family's name that people mean as billions of parameters: "mistral 7".
const leastSize = "7"

// short finds entries whose names have the text's words in their order and others between: of a size, of active
// parameters, of a date. Where the text leaves several sizes open, all are meant and none is taken.
func (q *question) short() []place {
	asked := wordsOf(q.said.Base)
	repo := q.said.Repo != ""
	whole := repo && !slices.ContainsFunc(asked, isSize) // then no word may be lacking: a repository is one model
	if len(asked) == 0 || len(asked) == 1 && len(asked[0]) < 3 {
		return nil
	}
	if last := len(asked) - 1; last > 0 && figures.MatchString(asked[last]) && len(q.wider(asked)) == 0 {
		if last == 1 && len(asked[last]) == 1 && asked[last] < leastSize {
			return nil // "llama 5" is a version, and none that is known
		}
		asked[last] += "b" // "gpt oss 120"
	}
	best, least := []place(nil), 0
	for _, w := range wordings()[asked[0]] {
		more, ok := between(asked, w.words)
		switch {
		case !ok || len(best) > 0 && more > least || whole && more > 0:
		case len(best) > 0 && more == least:
			best = with(best, w.place)
		default:
			best, least = []place{w.place}, more
		}
	}
	all := q.wider(asked)
	switch {
	case whole && (len(best) == 0 || !oneSize(all)):
		return nil
	case len(best) == 0 || len(asked) == 1 && len(all) > 1 && !slices.ContainsFunc(asked, isSize) && !oneSize(all):
		return q.open(all)
	case !slices.ContainsFunc(asked, isSize) && !oneSize(all):
		return q.open(all)
	}
	best = newestFirst(best)
	q.assumed, q.own = repo, repo
	q.why = fmt.Sprintf("%s read as %s", q.text, best[0].head.id())
	q.usual(best[0].head.id())
	for _, p := range append(best, all...) {
		w := wording{words: wordsOf(p.head.id())}
		if id := p.head.id(); id != best[0].head.id() && !w.otherwise(asked) && len(q.others) < suggested && !slices.Contains(q.others, id) {
			q.others = append(q.others, id)
		}
	}
	return best
}

func (q *question) open(all []place) []place {
	q.unclear = len(all) > 0
	return all[:min(len(all), 2*suggested)]
}

// wider are all entries whose names have the text's words.
func (q *question) wider(asked []string) (out []place) {
	for _, w := range wordings()[asked[0]] {
		if _, ok := between(asked, w.words); ok {
			out = with(out, w.place)
		}
	}
	return newestFirst(out)
}

// otheruse are words of a name that tell of another use than writing text.
var otheruse = regexp.MustCompile(`^(vl|vision|omni|audio|asr|tts|ocr|embed(ding)?s?|rerank(er)?|reward|rm|guard|coder|math|draft(er)?|eagle\d?|assistant|speech)$`)

// between counts the words of a name beside those that are asked, which stand in it in their order; words of another use
// count twice. A version stands behind the word that it is asked behind: "llama 5" is no Llama 3.3 Nemotron Super v1.5.
func between(asked, name []string) (more int, ok bool) {
	at := 0
	for i, w := range name {
		if at == len(asked) || w != asked[at] {
			continue
		}
		if at > 0 && figures.MatchString(w) && name[i-1] != asked[at-1] {
			continue
		}
		at++
	}
	if at < len(asked) {
		return 0, false
	}
	more = len(name) - len(asked)
	for _, w := range name {
		if otheruse.MatchString(w) && !slices.Contains(asked, w) {
			more++
		}
	}
	return more, true
}

// oneSize reports whether entries are of one number of parameters by their names.
func oneSize(list []place) bool {
	sizes := map[string]bool{}
	for _, p := range list {
		for _, w := range wordsOf(p.head.id()) {
			if isSize(w) {
				sizes[w] = true
				break
			}
		}
	}
	return len(sizes) <= 1
}

// weighed finds entries by words of their names and by a number of parameters that the names do not have, or have without
// the words before it: "R1 671b", "oss 120b", "Mistral-Large-Instruct-2411-123B".
func (q *question) weighed() []place {
	words, billions := splitSize(wordsOf(q.said.Base))
	words, active := splitActive(words)
	if billions == 0 || len(words) == 0 || len(words) == 1 && len(words[0]) < 2 {
		return nil
	}
	found := nearestOf(words)
	for _, p := range found[:min(len(found), mostWeighed)] {
		if !p.head.holds(billions, standsAlone) || active > 0 && !p.head.activates(active) {
			continue
		}
		q.assumed = q.said.Repo != ""
		q.why = fmt.Sprintf("%s read as %s, of so many parameters", q.text, p.head.id())
		q.usual(p.head.id())
		return []place{p}
	}
	return nil
}

// mostWeighed entries are built for one name, so that an unknown one is refused within a millisecond.
const mostWeighed = 6

// splitSize parts words from the billions of parameters among them.
func splitSize(asked []string) (words []string, billions float64) {
	for _, w := range asked {
		if b := billionsOf(w); b > 0 && billions == 0 {
			billions = b
		} else {
			words = append(words, w)
		}
	}
	return words, billions
}

// splitActive parts words from the billions of parameters that a token takes, as of "355B-A32B".
func splitActive(asked []string) (words []string, billions float64) {
	for _, w := range asked {
		if rest, ok := strings.CutPrefix(w, "a"); ok && len(rest) > 1 && billions == 0 && billionsOf(rest) > 0 {
			billions = billionsOf(rest)
		} else {
			words = append(words, w)
		}
	}
	return words, billions
}

// billionsOf reads "671b", "1.5b", "270m" and "1t".
func billionsOf(w string) float64 {
	last := len(w) - 1
	n, err := strconv.ParseFloat(w[:last], 64)
	if err != nil || n <= 0 {
		return 0
	}
	return n * map[byte]float64{'b': 1, 'm': 1e-3, 't': 1e3}[w[last]]
}

// nearestOf are the entries whose names have words in their order, those with fewest others and newest first.
func nearestOf(words []string) (out []place) {
	type far struct {
		place
		more int
	}
	var all []far
	for _, w := range worded() {
		if more, ok := between(words, w.words); ok {
			all = append(all, far{w.place, more})
		}
	}
	stable.Sort(all, func(a, b far) int {
		return cmp.Or(a.more-b.more, strings.Compare(b.head.released, a.head.released))
	})
	for _, f := range all {
		out = with(out, f.place)
	}
	return out
}

// othershape are words of a name that tell of another network than the rest of it: parts, drafters, pruned and merged ones.
var othershape = regexp.MustCompile(`^(vl|vision|omni|multimodal|audio|speech|voice|sound|music|image|video|vla|prm|encoder|vae|asr|tts|ocr|embed(ding)?s?|rerank(er)?|reward|rm|guard|draft(er)?|eagle\d?|eagle3\.1|dflash|dspark|domino|medusa|hydra|mtp|nextn|speculator|assistant|llava|onevision|ultravox|lora|qlora|adapter|mmproj|pruned|reap|minitron|moe|slerp|merge|frankenmerge|upscaled|expanded|layers?|depth|vocab\d*|\d+x\d+b|mamba|rwkv|diffusion|coder|math|next|air|flash|mini|nano|small|medium|large|pro|max|ultra|lite|tiny|big|scout|maverick|thinking|\d+(\.\d+)*[bmt]?|a\d+(\.\d+)?b|r\d|k\d(\.\d+)?|linear)$`)

// tuned are words for what was taken out of a model, whose shape stays.
var tuned = map[string]bool{"abliterated": true, "abliteration": true, "uncensored": true, "heretic": true,
	"decensored": true, "derestricted": true}

// teacher are models of which others learn; a version behind one is its own.
var teacher = regexp.MustCompile(`^(claude|opus|sonnet|gemini|gpt|grok|fable)$`)

// longer finds the entry whose name stands in the text with words more: those of a copy, or of a model that was tuned and
// has kept its shape. It is assumed, and said.
func (q *question) longer() []place {
	asked := slices.DeleteFunc(wordsOf(q.said.Base), func(w string) bool { return tuned[w] })
	var best wording
	from := 0
	for i := range asked {
		for _, w := range wordings()[asked[i]] {
			if len(w.words) > max(1, len(best.words)) && begins(asked[i:], w.words) && (slices.ContainsFunc(w.words, isSize) || i == 0) {
				best, from = w, i
			}
		}
	}
	if best.head == nil {
		return nil
	}
	unsized := !slices.ContainsFunc(best.words, isSize)
	for i, w := range asked {
		ownVersion := 0 < i && i < from && version.MatchString(w)                          // "Dolphin 3.0 Llama 3.1 8B"
		taught := i > 0 && version.MatchString(w) && teacher.MatchString(asked[i-1])       // "…-27B-Claude-4.6-Opus-Distilled"
		reach := context.MatchString(w) && i > 0 && slices.ContainsFunc(asked[:i], isSize) // "…-30B-A3B-Instruct-1M"
		switch {
		case slices.Contains(best.words, w) || dated.MatchString(w) || ownVersion || taught || reach:
		case othershape.MatchString(w) && !(unsized && len(w) > 3 && figures.MatchString(w)), unsized && strings.HasPrefix(w, "distill"):
			return nil
		}
	}
	q.assumed = true
	q.why = fmt.Sprintf("%s is not known: taken to have the shape of %s, whose name it holds", q.text, best.head.id())
	return []place{best.place}
}

// begins reports whether words begin with others.
func begins(all, part []string) bool {
	return len(part) <= len(all) && slices.Equal(all[:len(part)], part)
}
