package farm

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// Identity signs what one process answers. It lasts as long as the process: a name can be claimed by anybody who has the
// farm's token, a signature cannot.
type Identity struct {
	name string
	key  ed25519.PrivateKey
}

// NewIdentity of a process that goes by a name.
func NewIdentity(name string) (*Identity, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return &Identity{printable(name), key}, err
}

// ID tells identities apart, whatever their names.
func (i *Identity) ID() string { return idOf(i.public()) }

// String is the identity as people are told of it.
func (i *Identity) String() string { return signer(i.name, i.ID()) }

func (i *Identity) public() ed25519.PublicKey { return ed25519.PublicKey(i.key[ed25519.SeedSize:]) }

func (i *Identity) sign(text []byte) []byte { return ed25519.Sign(i.key, text) }

// idOf a public key: enough of its digest that nobody finds a second key of the same.
func idOf(public []byte) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:10])
}

// signer is a worker as people are told of it, and as results name it: its name, and the key that cannot be claimed.
func signer(name, id string) string { return name + " (" + id + ")" }

// idIn what signer gives; "" of another text.
func idIn(who string) string {
	if i := strings.LastIndex(who, " ("); i >= 0 && strings.HasSuffix(who, ")") {
		return who[i+2 : len(who)-1]
	}
	return ""
}

// isID tells what idOf gives.
func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 10 && strings.ToLower(s) == s
}

// The longest texts of others that are shown, in letters: a name, and why something goes wrong.
const (
	longName = 60
	longWhy  = 300
)

// printable is a name of somebody else without what a terminal would obey.
func printable(name string) string { return bounded(name, longName) }

func bounded(s string, most int) string {
	if len(s) > 8*most {
		s = s[:8*most]
	}
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return '?'
		}
		return r
	}, s)), " ")
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return s
}
