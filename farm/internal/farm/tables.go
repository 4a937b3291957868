package farm

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/memwall/memwall"
)

// Commit of which a release is; whoever builds one may set it.
var Commit string

// Tables names what answers depend on beside the question: all tables and rules, which are those of a commit, and how
// floating-point numbers come out, which differs between kinds of processors (some multiply and add in one rounding) and
// may between versions of Go. Builds of a tree with changes, or of none, are told by the program's own bytes.
func Tables() (string, error) {
	h := sha256.New()
	for _, w := range []string{memwall.Version, runtime.GOARCH, runtime.Version()} {
		_, _ = io.WriteString(h, w+"\n")
	}
	info, _ := debug.ReadBuildInfo()
	if err := ofCode(h, commitOf(info)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// commitOf a build; "" where it is of no one commit.
func commitOf(info *debug.BuildInfo) string {
	if Commit != "" || info == nil {
		return Commit
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	if said["vcs.modified"] != "false" {
		return ""
	}
	return said["vcs.revision"] + said["GOAMD64"] + said["GOARM64"]
}

func ofCode(h io.Writer, commit string) error {
	if commit != "" {
		_, err := io.WriteString(h, commit)
		return err
	}
	name, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.Copy(h, f)
	return err
}
