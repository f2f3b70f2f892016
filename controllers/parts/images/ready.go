package images

import (
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/ironflow/ironflow/controllers/selfcheck"
)

// hasBase is the readiness check of base images. A replica that had one stays ready: installations
// that have begun need the hub, not the image. Nor does it wait for those that are downloaded, until that has failed.
func (p *Part) hasBase() func(*http.Request) error {
	var had atomic.Bool
	check := selfcheck.Media(p.lookAtMedia)
	return func(r *http.Request) error {
		if had.Load() {
			return nil
		}
		for _, f := range check.Ask(r.Context()) {
			if f.Level == selfcheck.Error && len(p.served.Media.List()) == 0 {
				return errors.New(f.Text + ": " + f.Next)
			}
		}
		had.Store(len(p.served.Media.List()) > 0)
		return nil
	}
}
