package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ironflow/ironflow/api/localtoken"
)

// LoadLocalKey reads the key file of a hub to which nobody has handed in the public key of
// tokens that were made before; a missing one is made, as [LoadSecret] does. A damaged one
// is an error: tokens that it has signed are in use.
func LoadLocalKey(path string) (localtoken.Key, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newLocalKey(path)
	}
	if err != nil {
		return localtoken.Key{}, fmt.Errorf("key of local tokens: %w", err)
	}
	key, err := localtoken.Parse(raw)
	if err != nil {
		return key, fmt.Errorf("key of local tokens: %s: %w: restore it, or remove it to make a new one", path, err)
	}
	return key, nil
}

func newLocalKey(path string) (localtoken.Key, error) {
	key, err := localtoken.New()
	if err != nil {
		return key, fmt.Errorf("key of local tokens: %w", err)
	}
	text, err := key.PEM()
	if err != nil {
		return key, fmt.Errorf("key of local tokens: %w", err)
	}
	kept, err := keepSecret(path, text)
	if err != nil {
		return key, fmt.Errorf("key of local tokens: %w", err)
	}
	if !kept {
		return LoadLocalKey(path) // another one was faster
	}
	return key, nil
}
