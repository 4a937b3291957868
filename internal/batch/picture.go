package batch

import "github.com/memwall/memwall"

// Shown is what stands for an answer: itself, or its picture where pictures are asked for and there is one. Of an answer without
// a picture it is the error that says so.
func Shown(a *memwall.Answer, pictures bool, draw func(*memwall.Answer) ([]byte, error)) any {
	if !pictures || a.Error != nil {
		return a
	}
	picture, err := draw(a)
	if err != nil {
		none := Failed(memwall.AsError(err))
		none.Ask = a.Ask
		return none
	}
	return map[string]string{"svg": string(picture)}
}
