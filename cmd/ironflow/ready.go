package main

import (
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/ironflow/ironflow/controllers/selfcheck"
)

// door tells whether a server listens. A replica is ready when all of its servers do.
type door struct{ opened atomic.Bool }

// check is a readiness check.
func (d *door) check(*http.Request) error {
	if !d.opened.Load() {
		return errors.New("it does not listen yet")
	}
	return nil
}

// hasBase is the readiness check of base images. A replica that had one stays ready: installations
// that have begun need the hub, not the image. Nor does it wait for those that are downloaded.
func (p *imagePart) hasBase() func(*http.Request) error {
	var had atomic.Bool
	check := selfcheck.Media(p.lookAtMedia)
	return func(r *http.Request) error {
		if had.Load() {
			return nil
		}
		for _, f := range check.Ask(r.Context()) {
			if f.Level == selfcheck.Error && len(p.images.Media.List()) == 0 {
				return errors.New(f.Text + ": " + f.Next)
			}
		}
		had.Store(len(p.images.Media.List()) > 0)
		return nil
	}
}
