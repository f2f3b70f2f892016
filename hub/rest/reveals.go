package rest

import (
	"net/http"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// The live image of an infra-env has the token of all of its hosts and its pull secret: whoever
// gets it registers hosts and speaks for them. So its address is a secret, too.

// opensImages tells that the caller may have live images. A host's own token is narrower than
// that of an image, and one who only reads would change things by it.
func (c caller) opensImages() bool { return !c.readOnly && !c.agent.Own() }

// infraEnvFor is the infra-env as the caller sees it: without the address of its image where
// that is not for the caller.
func (r *request) infraEnvFor(e wire.InfraEnv) wire.InfraEnv {
	if !r.caller.opensImages() {
		e.DownloadURL = ""
	}
	return e
}

// mayBoot refuses a file of an infra-env to those who do not get its live image.
func (r *request) mayBoot(file string) error {
	if r.caller.agent.Own() {
		return notForAgents(file, "it opens the infra-env's image with its pull secret and the token of all hosts, and the host is booted already")
	}
	return r.changes("file " + clip(file))
}

// changes refuses one who only reads what lets its bearer do more than that.
func (r *request) changes(what string) error {
	if !r.caller.readOnly {
		return nil
	}
	if r.caller.name == "" {
		return &service.Error{Code: http.StatusForbidden, Reason: what + " has secrets, or opens more than reading, which a watcher's token does not"}
	}
	return &service.Error{Code: http.StatusForbidden, Reason: what + " has secrets, or opens more than reading, which the role of user " + r.caller.name +
		" does not: the protocol gives it to a read-only-admin, this hub does not; ask one who has the role admin for it"}
}
