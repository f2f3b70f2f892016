// Package ntp is the step ntp-synchronizer: it adds time sources to chrony and tells
// which of them are in use.
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

// Check adds time sources and tells which of them are in use.
var Check = probe.Check[wire.NTPSynchronizationRequest]{
	Deadline: 35 * time.Second,
	Validate: func(r wire.NTPSynchronizationRequest) error {
		for _, source := range sources(r) {
			if _, err := netip.ParseAddr(source); err != nil && !probe.ValidName(source) {
				return fmt.Errorf("%q is neither an address nor a host name", source)
			}
		}
		if len(sources(r)) > 64 {
			return errors.New("more than 64 time sources")
		}
		return nil
	},
	Real: probe.NotYet[wire.NTPSynchronizationRequest],
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
