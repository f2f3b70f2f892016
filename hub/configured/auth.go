package configured

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/auth"
)

// Ways to authenticate at a hub: by tokens that the hub alone makes and checks, by those of
// a key pair, or not at all.
const (
	AuthToken = "token"
	AuthPair  = "local"
	AuthNone  = "none"
)

// KeyFile is the key of agents' and clusters' tokens in the data folder.
const KeyFile = "agent.key"

// AuthFlags are the settings of the keys of tokens, for what makes or checks them.
var AuthFlags = []string{"hub-auth", "hub-auth-private-key", "hub-auth-private-key-file", "hub-auth-public-key", "hub-auth-public-key-file"}

// CheckAuth refuses what does not let agents authenticate.
func CheckAuth(h v1alpha1.Hub) error {
	if !slices.Contains([]string{AuthToken, AuthPair, AuthNone}, h.Auth) {
		return fmt.Errorf("--hub-auth %q is none of %s, %s and %s", h.Auth, AuthToken, AuthPair, AuthNone)
	}
	_, err := keyPair(h)
	return err
}

// TokenKey is the key of tokens, which lies in the data folder; the zero key for a hub
// without authentication.
func TokenKey(h v1alpha1.Hub, dataDir string) (auth.Key, error) {
	if h.Auth != AuthToken && h.Auth != AuthPair {
		return auth.Key{}, nil
	}
	pair, err := keyPair(h)
	if err != nil {
		return auth.Key{}, err
	}
	key, err := auth.LoadKey(filepath.Join(dataDir, KeyFile))
	if err != nil || pair == nil {
		return key, err
	}
	return key.With(*pair), nil
}

// keyPair is the pair that was handed in; nil for a hub whose tokens have none.
func keyPair(h v1alpha1.Hub) (*auth.Pair, error) {
	private, err := textOr(h.AuthPrivateKey, h.AuthPrivateKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--hub-auth-private-key-file: %w", err)
	}
	public, err := textOr(h.AuthPublicKey, h.AuthPublicKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--hub-auth-public-key-file: %w", err)
	}
	switch {
	case h.Auth != AuthPair && private+public != "":
		return nil, fmt.Errorf("keys of tokens are set, and --hub-auth is %s: set --hub-auth=%s, or leave out --hub-auth-private-key-file and --hub-auth-public-key-file, EC_PRIVATE_KEY_PEM and EC_PUBLIC_KEY_PEM", h.Auth, AuthPair)
	case h.Auth != AuthPair:
		return nil, nil
	case private == "":
		return nil, errors.New("--hub-auth=" + AuthPair + " needs the private key that signs tokens: set --hub-auth-private-key-file or EC_PRIVATE_KEY_PEM; `openssl ecparam -name prime256v1 -genkey -noout` makes one")
	}
	pair, err := auth.ParsePair(private, public)
	if err != nil {
		return nil, fmt.Errorf("--hub-auth=%s: %w", AuthPair, err)
	}
	return &pair, nil
}

// textOr is the text or, if there is none, what the file has; empty for neither.
func textOr(text, path string) (string, error) {
	if text != "" || path == "" {
		return text, nil
	}
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	return string(raw), err
}
