// Package seal encrypts what the hub keeps in its store and hands out to few: the
// Ignition, the keys and the credentials of clusters, and pull secrets. Whoever reads the database, or a
// copy of it, has nothing without the key, which lies beside the one that signs the
// agents' tokens and not in the database.
//
// A text is compressed and sealed with AES-256-GCM for one place (cluster and name), so
// that it cannot be put into another one. A [Text] is one within a record. [Keys] are the keys: the first seals, all open,
// so that a key can be replaced while texts of the old one are there.
package seal

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ironflow/ironflow/hub/auth"
)

const (
	// version is the form of sealed texts.
	version = "s1"
	// maxOpened bounds a text that is opened, in bytes.
	maxOpened = 64 << 20
	// before is what the file of the key that was replaced is called, behind the key's name.
	before = ".old"
)

// ErrKey tells that no key at hand opens a text.
var ErrKey = errors.New("sealed with a key that this hub does not have")

// Keys seal and open. The zero value does neither.
type Keys struct{ all []key }

type key struct {
	// id tells which key a text was sealed with, and nothing about it.
	id   string
	aead cipher.AEAD
}

// New makes keys of secrets of at least 32 bytes; the first one seals.
func New(secrets ...[]byte) (Keys, error) {
	var out Keys
	for _, secret := range secrets {
		if len(secret) < 32 {
			return Keys{}, fmt.Errorf("a key to seal with has %d bytes, want at least 32", len(secret))
		}
		derived, err := hkdf.Key(sha256.New, secret, nil, "ironflow seal", 40)
		if err != nil {
			return Keys{}, err
		}
		block, err := aes.NewCipher(derived[:32])
		if err != nil {
			return Keys{}, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return Keys{}, err
		}
		out.all = append(out.all, key{hex.EncodeToString(derived[32:36]), aead})
	}
	return out, nil
}

// Load reads the key of a file, which is made where it is missing, and the one that it
// has replaced, FILE.old, where there is one.
func Load(path string) (Keys, error) {
	secret, err := auth.LoadSecret(path)
	if err != nil {
		return Keys{}, fmt.Errorf("the key of clusters: %w", err)
	}
	old, err := os.ReadFile(path + before)
	if errors.Is(err, fs.ErrNotExist) {
		return New(secret)
	}
	if err != nil {
		return Keys{}, fmt.Errorf("the key of clusters: %w", err)
	}
	keys, err := New(secret, old)
	if err != nil {
		return Keys{}, fmt.Errorf("%s or %s: %w", path, path+before, err)
	}
	return keys, nil
}

// IsZero tells that there is no key.
func (k Keys) IsZero() bool { return len(k.all) == 0 }

// String hides the keys.
func (Keys) String() string { return "[keys of clusters]" }

// GoString hides the keys.
func (Keys) GoString() string { return "[keys of clusters]" }

// Seal encrypts a text for a place.
func (k Keys) Seal(place string, plain []byte) (string, error) {
	if k.IsZero() {
		return "", errors.New("there is no key to seal with")
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return "", err
	}
	_, err = w.Write(plain)
	if err := errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	first := k.all[0]
	nonce := make([]byte, first.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	sealed := first.aead.Seal(nonce, nonce, packed.Bytes(), bound(first.id, place))
	return version + "." + first.id + "." + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Open decrypts a text that was sealed for the place. Its errors do not have the text.
func (k Keys) Open(place, sealed string) ([]byte, error) {
	form, rest, _ := strings.Cut(sealed, ".")
	id, encoded, found := strings.Cut(rest, ".")
	raw, err := base64.RawStdEncoding.DecodeString(encoded)
	if form != version || !found || err != nil {
		return nil, fmt.Errorf("%s: no sealed text", place)
	}
	for _, one := range k.all {
		if one.id != id || len(raw) < one.aead.NonceSize() {
			continue
		}
		nonce, text := raw[:one.aead.NonceSize()], raw[one.aead.NonceSize():]
		packed, err := one.aead.Open(nil, nonce, text, bound(id, place))
		if err != nil {
			return nil, fmt.Errorf("%s: it was changed, or is of another place", place)
		}
		plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxOpened+1))
		if err == nil && len(plain) > maxOpened {
			err = fmt.Errorf("larger than %d MiB", maxOpened>>20)
		}
		return plain, err
	}
	return nil, fmt.Errorf("%s: %w; put the key back beside agent.key", place, ErrKey)
}

// Current tells that a text was sealed with the first key.
func (k Keys) Current(sealed string) bool {
	return !k.IsZero() && strings.HasPrefix(sealed, version+"."+k.all[0].id+".")
}

// bound is what a sealed text is bound to.
func bound(id, place string) []byte { return []byte(version + "." + id + "." + place) }
