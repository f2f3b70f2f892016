package configured

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// shortestToken is how many characters keep a token from being guessed.
const shortestToken = 16

// UserToken is the token of users without a name; empty for none.
func UserToken(h v1alpha1.Hub) (string, error) {
	if h.UserTokenFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(h.UserTokenFile)
	if err != nil {
		return "", fmt.Errorf("--hub-user-token-file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < shortestToken {
		return "", errors.New("--hub-user-token-file: the token has less than 16 characters; make one with: openssl rand -hex 32")
	}
	return token, nil
}
