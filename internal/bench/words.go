package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// Words generates prompts of a number of tokens from random words, so that no prefix cache has seen them.
type Words struct {
	rng *rand.Rand
	// perWord is tokens of a word, as the server counts.
	perWord float64
	mu      sync.Mutex
}

// vocabulary are words that most tokenizers have as one token.
var vocabulary = strings.Fields("time year people way day man thing woman life child world school state family student group country " +
	"problem hand part place case week company system program question work government number night point home water room mother " +
	"area money story fact month lot right study book eye job word business issue side kind head house service friend father power " +
	"hour game line end member law car city community name president team minute idea body information back parent face others level " +
	"office door health person art war history party result change morning reason research girl guy moment air teacher force education")

// NewWords returns Words with a seed, initially assuming one token per word.
func NewWords(seed uint64) *Words {
	return &Words{rng: rand.New(rand.NewPCG(seed, 1)), perWord: 1}
}

// Prompt of so many tokens, give or take one in fifty.
func (w *Words) Prompt(tokens int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := max(1, int(math.Round(float64(tokens)/w.perWord)))
	words := make([]string, n)
	for i := range words {
		words[i] = vocabulary[w.rng.IntN(len(vocabulary))]
	}
	return strings.Join(words, " ")
}

// Learn asks the server for a token, which warms it up, and how many tokens the words of a prompt are to it. A server that does not count
// leaves a word a token.
func (w *Words) Learn(ctx context.Context, s *Server) error {
	const trial = 64 // of bytes, they are 400 tokens: that fits where little does
	client := &http.Client{Transport: s.transport(1), CheckRedirect: stay}
	defer client.CloseIdleConnections()
	a := s.ask(ctx, client, w.Prompt(trial), 2)
	if a.err != nil {
		return a.err
	}
	if a.prompt > 0 {
		w.perWord = float64(a.prompt) / trial
	}
	const absurd = 64
	if w.perWord > absurd {
		return errors.New("the server counts more than 64 tokens for a common word")
	}
	return nil
}
