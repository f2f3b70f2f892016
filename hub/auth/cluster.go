package auth

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// clusterPrefix starts tokens of programs inside clusters.
const clusterPrefix = "ifc1."

// ClusterClaims are what a cluster's token says.
type ClusterClaims struct {
	// ClusterID is the only cluster that the token opens.
	ClusterID string
	// Generation is the cluster's when the token was made; zero for the first one.
	Generation int64
}

// ClusterToken returns the token of the program inside a cluster: it opens what that
// program reads and reports of this cluster, and nothing else. It stays the same as long
// as the key and the generation do. That of the first generation does not name it.
func (k Key) ClusterToken(c ClusterClaims) (string, error) {
	if k.IsZero() {
		return "", errors.New("token key: none is set")
	}
	id, err := uuid.Parse(c.ClusterID)
	if err != nil {
		return "", fmt.Errorf("cluster id: %w", err)
	}
	if k.pair != nil {
		return k.pair.private.Sign(clusterClaims{ClusterID: id.String(), Program: true, Generation: c.Generation}.signed())
	}
	start, payload := clusterPrefix+id.String(), append([]byte(clusterPrefix), id[:]...)
	if c.Generation > firstGeneration {
		start += "." + strconv.FormatInt(c.Generation, 10)
		payload = binary.BigEndian.AppendUint64(payload, uint64(c.Generation))
	}
	return start + "." + base64.RawURLEncoding.EncodeToString(k.sign(payload)), nil
}

// OfCluster tells that it is a token of a cluster, good or not.
func (k Key) OfCluster(token string) bool {
	return strings.HasPrefix(token, clusterPrefix) || k.pair != nil && ofCluster(token)
}

// CheckCluster returns the claims of a good token, or [ErrInvalid]. Whether the cluster and its
// generation still exist is the caller's to check.
func (k Key) CheckCluster(token string) (ClusterClaims, error) {
	if k.pair != nil {
		c, err := k.pair.cluster(token)
		return ClusterClaims{c.ClusterID, c.Generation}, err
	}
	body, found := strings.CutPrefix(token, clusterPrefix)
	parts := strings.Split(body, ".")
	if !found || len(token) > maxToken || k.IsZero() || len(parts) < 2 || len(parts) > 3 {
		return ClusterClaims{}, ErrInvalid
	}
	c := ClusterClaims{parts[0], firstGeneration}
	if len(parts) == 3 {
		var err error
		if c.Generation, err = strconv.ParseInt(parts[1], 10, 64); err != nil {
			return ClusterClaims{}, ErrInvalid
		}
	}
	// Comparing the whole text leaves no second spelling of a token.
	want, err := k.ClusterToken(c)
	if err != nil || !hmac.Equal([]byte(token), []byte(want)) {
		return ClusterClaims{}, ErrInvalid
	}
	return c, nil
}

// CheckClusterURL returns the cluster whose files, logs and events a token in a URL opens, or
// [ErrInvalid]. Only a [Pair] has such tokens, and makes none: whoever has the private key does.
func (k Key) CheckClusterURL(token string) (ClusterClaims, error) {
	if k.pair == nil {
		return ClusterClaims{}, ErrInvalid
	}
	c, err := k.pair.cluster(token)
	if err == nil && c.Program {
		return ClusterClaims{}, ErrInvalid
	}
	return ClusterClaims{c.ClusterID, c.Generation}, err
}
