package family

import "strings"

// drafter says why a config.json is of a network that only proposes tokens for another model, "" for ordinary ones.
func (c *Config) drafter() string {
	for _, key := range []string{"draft_vocab_size", "dflash_config", "eagle_config"} {
		if c.Has(key) {
			return key
		}
	}
	for _, word := range []string{"Eagle3", "DFlash", "DraftModel"} {
		if strings.Contains(c.Class(), word) {
			return c.Class()
		}
	}
	return ""
}
