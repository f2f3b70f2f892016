package auth

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// clusterPrefix starts tokens of programs inside clusters.
const clusterPrefix = "ifc1."

// ClusterToken returns the token of the program inside a cluster: it opens what that
// program reads and reports of this cluster, and nothing else. It stays the same as long
// as the key does.
func (k Key) ClusterToken(clusterID string) (string, error) {
	if k.IsZero() {
		return "", errors.New("token key: none is set")
	}
	id, err := uuid.Parse(clusterID)
	if err != nil {
		return "", fmt.Errorf("cluster id: %w", err)
	}
	if k.pair != nil {
		return k.pair.private.Sign(clusterClaims{ClusterID: id.String(), Program: true})
	}
	signature := k.sign(append([]byte(clusterPrefix), id[:]...))
	return clusterPrefix + id.String() + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// OfCluster tells that it is a token of a cluster, good or not.
func (k Key) OfCluster(token string) bool {
	return strings.HasPrefix(token, clusterPrefix) || k.pair != nil && ofCluster(token)
}

// CheckCluster returns the cluster that a good token opens, or [ErrInvalid]. Whether it
// still exists is the caller's to check.
func (k Key) CheckCluster(token string) (clusterID string, err error) {
	if k.pair != nil {
		c, err := k.pair.cluster(token)
		return c.ClusterID, err
	}
	body, found := strings.CutPrefix(token, clusterPrefix)
	id, _, split := strings.Cut(body, ".")
	if !found || !split || len(token) > maxToken || k.IsZero() {
		return "", ErrInvalid
	}
	// Comparing the whole text leaves no second spelling of a token.
	want, err := k.ClusterToken(id)
	if err != nil || !hmac.Equal([]byte(token), []byte(want)) {
		return "", ErrInvalid
	}
	return id, nil
}

// CheckClusterURL returns the cluster whose files, logs and events a token in a URL opens, or
// [ErrInvalid]. Only a [Pair] has such tokens, and makes none: whoever has the private key does.
func (k Key) CheckClusterURL(token string) (clusterID string, err error) {
	if k.pair == nil {
		return "", ErrInvalid
	}
	c, err := k.pair.cluster(token)
	if err == nil && c.Program {
		return "", ErrInvalid
	}
	return c.ClusterID, err
}
