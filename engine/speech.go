package engine

import "github.com/memwall/memwall/unit"

// Voice says whether an engine loads the parts of a model that synthesize audio.
type Voice bool

// Silent engines only generate text, and load only the thinker of an omni model: vLLM since #15130
// (model_executor/models/registry.py maps the whole to the thinker), SGLang since #10911 (models/qwen3_omni_moe.py
// skips talker and code2wav).
const (
	Silent   Voice = false
	Speaking Voice = true
)

const speechNote = "speech_not_loaded"

// SpeechNote notes what a silent engine leaves out of the model. Repeated calls add one note.
func SpeechNote(j *Job) {
	var b unit.Bytes
	for i := range j.Model.Parts {
		if j.Model.Parts[i].Speaks {
			b += j.Weights.Parts[i].Bytes()
		}
	}
	if b > 0 && !j.noted(speechNote) {
		j.Note(speechNote, "info", "model", "the parts that speak are not loaded, as this engine gives text alone: %s stay on disk", b)
	}
}
