package image

import (
	"crypto/rand"
	"fmt"
	"path"

	"golang.org/x/crypto/bcrypt"

	"github.com/ironflow/ironflow/agent/agentbased/places"
)

// Password is the file with the administrator's password of a release's cluster. It is made with
// the first image, and is nowhere else: hosts have its hash.
const Password = authFolder + "/kubeadmin-password"

// passwordHash is the name of the hash among the certificates. The installer of a release makes
// the cluster's kubeadmin by it, and appliances the password of the user core.
var passwordHash = path.Base(places.PasswordHash)

// letters are those of a password, without such as look like others. There are 32, so that a
// byte chooses each as often as the others.
const letters = "abcdefghijkmnpqrstuvwxyz23456789"

// newPassword makes one of four groups of five letters, and its hash as /etc/shadow has it.
func newPassword() (password string, hash []byte, err error) {
	raw := make([]byte, 20)
	if _, err := rand.Read(raw); err != nil {
		return "", nil, err
	}
	for i, b := range raw {
		if i > 0 && i%5 == 0 {
			password += "-"
		}
		password += string(letters[int(b)%len(letters)])
	}
	if hash, err = bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost); err != nil {
		return "", nil, fmt.Errorf("make the hash of the administrator's password: %w", err)
	}
	return password, hash, nil
}
