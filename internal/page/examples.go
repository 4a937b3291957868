package page

import (
	"net/url"
	"slices"
	"strings"

	"github.com/memwall/memwall"
)

// exampleLog is shown on the page of a failure until a log is pasted: the end of a fine-tuning run.
const exampleLog = `$ python sft.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 --max_seq_length 4096 --gradient_checkpointing True --use_peft True
Traceback (most recent call last):
  File "transformers/loss/loss_utils.py", line 36, in ForCausalLMLoss
    logits = logits.float()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.86 GiB is free. ` +
	`Including non-PyTorch memory, this process has 21.64 GiB memory in use. Of the allocated memory 20.91 GiB is allocated by PyTorch, and ` +
	`312.40 MiB is reserved by PyTorch but unallocated.`

// filled completes an unanswerable question from its example, keeping what is given.
func (s *state) filled() {
	q := questionAt(s.ask)
	if q == nil || !slices.ContainsFunc(q.needs, s.lacks) {
		return
	}
	values, err := url.ParseQuery(q.example)
	if err != nil {
		panic(err) // a row of the table
	}
	for key := range values {
		if !s.query.Has(key) {
			s.query.Set(key, values.Get(key))
		}
	}
}

// lacks reports whether none of several alternative fields ("rate users") is given.
func (s *state) lacks(need string) bool {
	return !slices.ContainsFunc(strings.Fields(need), s.query.Has)
}

// needed reports whether a question has no answer without a field or its alternative.
func (q *question) needed(key string) bool {
	return slices.ContainsFunc(q.needs, func(need string) bool { return slices.Contains(strings.Fields(need), key) })
}

// dropped removes the settings that the question's engine does not support, and returns their names.
func (s *state) dropped() (names []string) {
	engine, _, _ := strings.Cut(s.query.Get("engine"), "@")
	if !slices.Contains(memwall.Engines(), engine) {
		return nil
	}
	for _, key := range sortedKeys(s) {
		if f := fieldOf(key); f != nil && len(f.Engines) > 0 && !f.OwnedBy(engine) {
			names = append(names, key)
			s.query.Del(key)
		}
	}
	return names
}

// fieldOf returns the request field of a URL key; nil if there is none.
func fieldOf(key string) *memwall.Field {
	fields := memwall.Fields()
	if i := slices.IndexFunc(fields, func(f memwall.Field) bool { return keyOf(&f) == key }); i >= 0 {
		return &fields[i]
	}
	return nil
}
