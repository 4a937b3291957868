package family

import (
	"errors"
	"strings"
)

// headerKeys are the keys of a GGUF header that hold what checks of a layer speak of.
var headerKeys = map[string]string{"KV heads": "attention.head_count_kv", "experts used": "expert_used_count", "state heads": "ssm.time_step_rank", "state groups": "ssm.group_count",
	"shared KV cache": "attention.shared_kv_layers"}

// keyed says what is wrong with a layer by the header's key, where the header has it.
func (m *Meta) keyed(err error) error {
	var e *FieldError
	if !errors.As(err, &e) {
		return err
	}
	layer, what, _ := strings.Cut(e.Field, ": ")
	key := m.key(headerKeys[what])
	if _, there := m.h.Ints(key); !there {
		return err
	}
	return &FieldError{Field: key, Value: e.Value, Problem: e.Problem + " (" + layer + ")", Fix: damaged, Lacking: e.Lacking}
}
