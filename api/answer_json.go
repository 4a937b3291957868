package api

import (
	"bytes"
	"encoding/json"
)

// Types whose fields are all there is to them: without the methods below, which would call themselves.
type (
	plainAnswer Answer
	plainKV     KV
)

// flatAnswer and flatKV are what JSON has: fields that are nil but for one question stand beside the others. Where both have
// a name it is the outer one's.
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

// MarshalJSON writes the fields of Simulated and Diagnosed beside the answer's own.
func (a Answer) MarshalJSON() ([]byte, error) {
	return unescaped(flatAnswer{(*plainAnswer)(&a), answerParts{a.Simulated, a.Diagnosed}})
}

// UnmarshalJSON reads what MarshalJSON writes; fields that it does not know are passed over.
func (a *Answer) UnmarshalJSON(text []byte) error {
	in := flatAnswer{plainAnswer: (*plainAnswer)(a)}
	err := json.Unmarshal(text, &in)
	a.Simulated, a.Diagnosed = in.answerParts.Simulated, in.answerParts.Diagnosed
	return err
}

// MarshalJSON writes the fields of PoolUse beside the cache's own.
func (k KV) MarshalJSON() ([]byte, error) {
	return unescaped(flatKV{(*plainKV)(&k), kvParts{k.PoolUse}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (k *KV) UnmarshalJSON(text []byte) error {
	in := flatKV{plainKV: (*plainKV)(k)}
	err := json.Unmarshal(text, &in)
	k.PoolUse = in.kvParts.PoolUse
	return err
}

// unescaped JSON: who answerParts for the answer escapes < and > for a page, or does not.
func unescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
