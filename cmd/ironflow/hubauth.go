package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/auth"
)

// Ways to authenticate at a hub that is not on one of its hosts, beside [authNone]: by tokens
// that the hub alone makes and checks, or by those of a key pair.
const (
	authToken = "token"
	authPair  = "local"
)

// authFlags are the settings of the keys of tokens, for what makes or checks them.
var authFlags = []string{"hub-auth", "hub-auth-private-key", "hub-auth-private-key-file", "hub-auth-public-key", "hub-auth-public-key-file"}

// checkAuth refuses what does not let agents authenticate.
func (s *configuration) checkAuth() error {
	if !slices.Contains([]string{authToken, authPair, authNone}, s.Hub.Auth) {
		return fmt.Errorf("--hub-auth %q is none of %s, %s and %s", s.Hub.Auth, authToken, authPair, authNone)
	}
	_, err := keyPair(s.Hub)
	return err
}

// tokenKey is the key of tokens, which lies in the data folder; the zero key for a hub
// without authentication.
func (s *configuration) tokenKey() (auth.Key, error) {
	if s.Hub.Auth != authToken && s.Hub.Auth != authPair {
		return auth.Key{}, nil
	}
	pair, err := keyPair(s.Hub)
	if err != nil {
		return auth.Key{}, err
	}
	key, err := auth.LoadKey(filepath.Join(s.Store.DataDir, keyFile))
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
	case h.Auth != authPair && private+public != "":
		return nil, fmt.Errorf("keys of tokens are set, and --hub-auth is %s: set --hub-auth=%s, or leave out --hub-auth-private-key-file and --hub-auth-public-key-file, EC_PRIVATE_KEY_PEM and EC_PUBLIC_KEY_PEM", h.Auth, authPair)
	case h.Auth != authPair:
		return nil, nil
	case private == "":
		return nil, errors.New("--hub-auth=" + authPair + " needs the private key that signs tokens: set --hub-auth-private-key-file or EC_PRIVATE_KEY_PEM; `openssl ecparam -name prime256v1 -genkey -noout` makes one")
	}
	pair, err := auth.ParsePair(private, public)
	if err != nil {
		return nil, fmt.Errorf("--hub-auth=%s: %w", authPair, err)
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
