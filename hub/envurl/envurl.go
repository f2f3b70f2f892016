// Package envurl makes the addresses of what the hub serves of an infra-env, with the
// token of its images as the right to read them: for people and machines that have no
// token of their own. They stay the same until the infra-env's signing key is made anew.
// Whether a request has the right is decided by package rest.
package envurl

import (
	"maps"
	"net/url"
	"strings"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/protocol"
)

// Files that the hub serves of an infra-env.
const (
	Ignition       = "discovery.ign"
	Script         = "ipxe-script"
	StaticNetworks = "static-network-config"
)

// InfraEnv is one whose addresses are wanted.
type InfraEnv struct {
	// API is the hub's address up to the version, see [API].
	API string
	// ID is the infra-env's, Token that of its images; without one, nothing is added.
	ID, Token string
}

// API is the root of all operations of a hub that clients reach at public.
func API(public string) string { return strings.TrimSuffix(public, "/") + protocol.Base + "/v2" }

// Events lists the infra-env's events.
func (e InfraEnv) Events() string {
	return e.API + eventsPath + e.query(url.Values{"infra_env_id": {e.ID}})
}

// File is one of the infra-env's files; more is what the query says beside its name.
func (e InfraEnv) File(name string, more url.Values) string {
	query := url.Values{"file_name": {name}}
	maps.Copy(query, more)
	return e.API + "/infra-envs/" + e.ID + "/downloads/files?" + e.query(query)
}

func (e InfraEnv) query(query url.Values) string {
	if e.Token != "" {
		query.Set(auth.URLKey, e.Token)
	}
	return query.Encode()
}
