package family

import "fmt"

// checkShared refuses layers that use an earlier cache where no earlier layer of their kind has one, but for drafters, which use
// their target's.
func (s *Spec) checkShared() error {
	owned := map[bool]bool{} // by whether the layers slide
	for i := range s.Layers {
		a := &s.Layers[i].Attn
		switch slides := a.Window > 0; {
		case a.Heads > 0 && !a.SharesKV:
			owned[slides] = true
		case a.SharesKV && !owned[slides] && s.Draft.States == 0:
			return &FieldError{Field: fmt.Sprintf("layer %d: shared KV cache", i), Value: fmt.Sprint(len(s.Layers), " layers"), Problem: "no layer before it has a cache of its kind",
				Fix: "correct the number of layers that share (num_kv_shared_layers, attention.shared_kv_layers)"}
		}
	}
	return nil
}
