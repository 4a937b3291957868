package cli

import (
	"path/filepath"
	"testing"
)

// TestCalibrationPath: each system has its own folder of settings; without a home there is none.
func TestCalibrationPath(t *testing.T) {
	home := map[string]string{"HOME": "/home/a", "AppData": "/users/a/roaming"}
	for _, c := range []struct {
		env          map[string]string
		system, want string
	}{
		{home, "linux", "/home/a/.config/memwall/calibration.json"},
		{home, "darwin", "/home/a/Library/Application Support/memwall/calibration.json"},
		{home, "windows", "/users/a/roaming/memwall/calibration.json"},
		{map[string]string{"HOME": "/home/a", "XDG_CONFIG_HOME": "/x"}, "linux", "/x/memwall/calibration.json"},
		{nil, "linux", ""},
	} {
		if got := filepath.ToSlash(calibrationPath(func(k string) string { return c.env[k] }, c.system)); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.system, c.env, got, c.want)
		}
	}
}
