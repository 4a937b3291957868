package page

import (
	"net/url"
	"slices"
	"strings"

	"github.com/memwall/memwall"
)

// exampleLog is what the page of a failure shows until somebody pastes another: the end of a run of fine-tuning.
const exampleLog = `$ python sft.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 --max_seq_length 4096 --gradient_checkpointing True --use_peft True
Traceback (most recent call last):
  File "transformers/loss/loss_utils.py", line 36, in ForCausalLMLoss
    logits = logits.float()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.86 GiB is free. ` +
	`Including non-PyTorch memory, this process has 21.64 GiB memory in use. Of the allocated memory 20.91 GiB is allocated by PyTorch, and ` +
	`312.40 MiB is reserved by PyTorch but unallocated.`

// filled says of a question that cannot be answered yet what its example says; what is said already stays.
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

// lacks reports whether none of some fields, of which one is needed, is said: "rate users".
func (s *state) lacks(need string) bool {
	return !slices.ContainsFunc(strings.Fields(need), s.query.Has)
}

// needed reports whether a question has no answer without a field, or another in its place.
func (q *question) needed(key string) bool {
	return slices.ContainsFunc(q.needs, func(need string) bool { return slices.Contains(strings.Fields(need), key) })
}

// dropped takes away the settings that the engine of the question does not know, and names them.
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

// fieldOf a key of an address; nil where it is none of a request's.
func fieldOf(key string) *memwall.Field {
	fields := memwall.Fields()
	if i := slices.IndexFunc(fields, func(f memwall.Field) bool { return keyOf(&f) == key }); i >= 0 {
		return &fields[i]
	}
	return nil
}
