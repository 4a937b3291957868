package regular

import "path/filepath"

// Settings is the user's folder of settings of memwall, as each system has it (the XDG base directories, Apple's and Microsoft's); "" where
// none is known.
func Settings(env func(string) string, system string) string {
	folder := env("XDG_CONFIG_HOME")
	if home := env("HOME"); folder == "" && home != "" && system != "windows" {
		folder = filepath.Join(home, ".config")
		if system == "darwin" {
			folder = filepath.Join(home, "Library", "Application Support")
		}
	}
	if folder == "" && system == "windows" {
		folder = env("AppData")
	}
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "memwall")
}
