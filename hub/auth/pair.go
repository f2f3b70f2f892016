package auth

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironflow/ironflow/api/localtoken"
)

// Pair is the key pair of a hub whose agents and clusters have JSON web tokens (AUTH_TYPE
// local): signed by ES256, with the claim infra_env_id or cluster_id. Whoever has the private
// key makes such tokens as well, and whoever has the public key checks them.
type Pair struct {
	private localtoken.Key
	public  Local
}

// ParsePair reads the keys as the hub's settings have them (EC_PRIVATE_KEY_PEM and
// EC_PUBLIC_KEY_PEM): PEM, or PEM in base64. Without a public key it follows from the private
// one. There may be several, which lets tokens of a former key be good for a while. Errors
// do not quote the private key.
func ParsePair(private, public string) (Pair, error) {
	key, err := localtoken.Parse(localtoken.Unwrap(private))
	if err != nil {
		return Pair{}, fmt.Errorf("the private key: %w", err)
	}
	if public == "" {
		return Pair{key, LocalOf(key)}, nil
	}
	keys, err := ParseLocal(public)
	if err != nil {
		return Pair{}, fmt.Errorf("the public key: %w", err)
	}
	if !slices.ContainsFunc(keys.keys, func(k *ecdsa.PublicKey) bool { return k.Equal(key.Public()) }) {
		return Pair{}, errors.New("the public key is not that of the private key")
	}
	return Pair{key, keys}, nil
}

// String keeps the key out of logs.
func (Pair) String() string { return "[key pair]" }

// GoString keeps the key out of logs.
func (Pair) GoString() string { return "[key pair]" }

// clusterClaims are those of a token that opens a cluster.
type clusterClaims struct {
	ClusterID string `json:"cluster_id"`
	// Program tells that the token was made for the program inside the cluster: it is in a
	// Secret there, and must not open more than that program needs.
	Program bool `json:"program,omitempty"`
	// Generation is the cluster's when the token was made; its name is also one of [Claims].
	Generation int64 `json:"-"`
}

// signed are the claims as they stand in a token. Those of a cluster whose token was never
// revoked have no generation.
func (c clusterClaims) signed() any {
	generation := c.Generation
	if generation <= firstGeneration {
		generation = 0
	}
	return struct {
		clusterClaims
		Generation int64 `json:"generation,omitempty"`
	}{c, generation}
}

// read returns the claims of a good token, which names either an infra-env or a cluster. One
// that was made without a generation, elsewhere, is good until the tokens of the infra-env or
// cluster are revoked for the first time.
func (p *Pair) read(token string) (Claims, clusterClaims, error) {
	var c struct {
		Claims
		clusterClaims
	}
	if err := p.public.read(token, time.Now(), &c); err != nil {
		return Claims{}, clusterClaims{}, err
	}
	if (c.InfraEnvID == "") == (c.ClusterID == "") {
		return Claims{}, clusterClaims{}, ErrInvalid
	}
	if c.Claims.Generation == 0 {
		c.Claims.Generation = firstGeneration
	}
	c.clusterClaims.Generation = c.Claims.Generation
	return c.Claims, c.clusterClaims, nil
}

// agent returns the claims of a good token of an infra-env.
func (p *Pair) agent(token string) (Claims, error) {
	c, cluster, err := p.read(token)
	if err == nil && cluster.ClusterID != "" {
		return Claims{}, ErrInvalid
	}
	return c, err
}

// cluster returns the claims of a good token of a cluster.
func (p *Pair) cluster(token string) (clusterClaims, error) {
	_, c, err := p.read(token)
	if err == nil && c.ClusterID == "" {
		return clusterClaims{}, ErrInvalid
	}
	return c, err
}

// ofCluster tells that the token says that it opens a cluster, whoever has signed it.
func ofCluster(token string) bool {
	var c clusterClaims
	return claimed(token, &c) == nil && c.ClusterID != ""
}
