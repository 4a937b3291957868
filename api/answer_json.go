package api

import (
	"bytes"
	"encoding/json"
)

// Method-less copies of types, to marshal them without recursing into the methods below.
type (
	plainAnswer Answer
	plainKV     KV
)

// flatAnswer and flatKV are the JSON forms, with question-specific parts inlined. On a name conflict the outer field
// wins.
type (
	flatAnswer struct {
		*plainAnswer
		answerParts
	}
	answerParts struct {
		*Simulated
		*Diagnosed
	}
	flatKV struct {
		*plainKV
		kvParts
	}
	kvParts struct{ *PoolUse }
)

// MarshalJSON encodes the answer with the fields of Simulated and Diagnosed inlined.
func (a Answer) MarshalJSON() ([]byte, error) {
	return unescaped(flatAnswer{(*plainAnswer)(&a), answerParts{a.Simulated, a.Diagnosed}})
}

// UnmarshalJSON decodes what MarshalJSON writes. It ignores unknown fields.
func (a *Answer) UnmarshalJSON(text []byte) error {
	in := flatAnswer{plainAnswer: (*plainAnswer)(a)}
	err := json.Unmarshal(text, &in)
	a.Simulated, a.Diagnosed = in.answerParts.Simulated, in.answerParts.Diagnosed
	return err
}

// MarshalJSON encodes the cache with the fields of PoolUse inlined.
func (k KV) MarshalJSON() ([]byte, error) {
	return unescaped(flatKV{(*plainKV)(&k), kvParts{k.PoolUse}})
}

// UnmarshalJSON decodes what MarshalJSON writes.
func (k *KV) UnmarshalJSON(text []byte) error {
	in := flatKV{plainKV: (*plainKV)(k)}
	err := json.Unmarshal(text, &in)
	k.PoolUse = in.kvParts.PoolUse
	return err
}

// unescaped encodes v without escaping HTML; the encoder of the enclosing answer decides whether < and > are escaped.
func unescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
