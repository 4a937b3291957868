package question

import "testing"

// TestRepositoriesOfTheirOwn: a repository whose format is known stands in it, though the maker's own checkpoint has nearly the same.
func TestRepositoriesOfTheirOwn(t *testing.T) {
	for repo, want := range map[string]string{
		"nvidia/DeepSeek-V4-Flash-NVFP4": "fp8-block-nvfp4-experts", "deepseek-ai/DeepSeek-V4-Flash": "fp8-block-fp4-experts",
		"nvidia/DeepSeek-R1-0528-FP4": "nvfp4-experts",
	} {
		r, err := Catalog{}.Model(repo)
		if err != nil || r.Recipe != want {
			t.Errorf("%s: %+v, %v, want %s", repo, r, err, want)
		}
	}
}
