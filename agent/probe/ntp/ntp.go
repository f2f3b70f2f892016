// Package ntp is the step ntp-synchronizer: it adds time sources to chrony and
// tells which of them are in use. chronyd is asked through its Unix socket; no
// program is started.
package ntp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// maxSources bounds the sources of one step.
const maxSources = 64

// listing bounds one listing of the sources, its look-ups included. A step
// lists twice: what is there, and what is there then.
const listing = 30 * time.Second

// Check adds time sources and tells which of them are in use.
var Check = probe.Check[wire.NTPSynchronizationRequest]{
	Deadline: 2*listing + 5*time.Second,
	Decode: func(args []string) (wire.NTPSynchronizationRequest, error) {
		r, err := steps.Decode[struct {
			NTPSource *string `json:"ntp_source"`
		}](args)
		switch {
		case err != nil:
			return wire.NTPSynchronizationRequest{}, err
		case r.NTPSource == nil: // empty is allowed, missing is not
			return wire.NTPSynchronizationRequest{}, errors.New("ntp_source is missing")
		}
		return wire.NTPSynchronizationRequest{NTPSource: *r.NTPSource}, nil
	},
	Validate: func(r wire.NTPSynchronizationRequest) error {
		wanted := sources(r)
		if len(wanted) > maxSources {
			return errors.New("more than 64 time sources")
		}
		for _, source := range wanted {
			if _, err := netip.ParseAddr(source); err != nil && !probe.ValidName(source) {
				return fmt.Errorf("%q is neither an address nor a host name", source)
			}
		}
		return nil
	},
	Real: synchronize,
	Dry: func(_ context.Context, _ probe.Env, r wire.NTPSynchronizationRequest) steps.Result {
		out := wire.NTPSynchronizationResponse{NTPSources: []wire.NTPSource{}}
		names := sources(r)
		if len(names) == 0 {
			names = []string{"dry-run.invalid"}
		}
		for _, name := range names {
			out.NTPSources = append(out.NTPSources, wire.NTPSource{SourceName: name, SourceState: wire.SourceStateSynced})
		}
		return steps.JSON(out)
	},
}

func sources(r wire.NTPSynchronizationRequest) []string {
	return strings.FieldsFunc(r.NTPSource, func(c rune) bool { return c == ',' || c == ' ' })
}
