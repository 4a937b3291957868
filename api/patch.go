package api

import "encoding/json"

// Patch returns the request with a JSON merge patch (RFC 7396) applied. It does not modify r.
func Patch(r *Request, patch map[string]any) (*Request, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	merge(m, patch)
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	return Decode(data)
}

func merge(into map[string]any, patch map[string]any) {
	for k, v := range patch {
		sub, isMap := v.(map[string]any)
		have, had := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case isMap && had:
			merge(have, sub)
		default:
			into[k] = v
		}
	}
}
