package bmcrotation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// Guard gives out the clients of a pool to everybody but the rotation itself. While a
// host's password is being changed, and in quarantine, it gives one that reaches
// nobody: a wrong login might lock the account. A BMC whose certificate we have replaced is
// trusted by what that was signed with.
type Guard struct {
	// Pool is that of [Options].
	Pool *client.Pool
	// Reader reads records, from the cache as a rule.
	Reader kclient.Reader
}

// Client is that of a host, by namespace and name.
func (g Guard) Client(key string, t client.Target) (*client.Client, error) {
	why, err := g.closed(key, rotation.Login{Username: t.Username, Password: t.Password})
	switch {
	case err != nil:
		why = err.Error()
	case why == "":
		if t.TLS, err = trustOf(context.Background(), g.Reader, key, t); err != nil {
			return nil, err
		}
		return g.Pool.Client(key, t)
	}
	return client.New(t, client.Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New(why) }})
}

// Drop implements the other half of what controllers need of a pool.
func (g Guard) Drop(key string) { g.Pool.Drop(key) }

// closed says why nobody may log in now; empty if they may.
func (g Guard) closed(key string, login rotation.Login) (string, error) {
	namespace, name, _ := strings.Cut(key, "/")
	secret := &corev1.Secret{}
	err := g.Reader.Get(context.Background(), types.NamespacedName{Namespace: namespace, Name: rotation.RecordName(name)}, secret)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read whether the password of BMC %s is being changed: %w", key, err)
	}
	record, err := rotation.Decode(secret.Data)
	if err != nil {
		return "", fmt.Errorf("the record of BMC %s: %w", key, err)
	}
	why, _ := rotation.MayLogin(record, login)
	return why, nil
}
