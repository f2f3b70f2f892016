// Package vips is the step verify-vips: whether virtual addresses are still unused.
package vips

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Check tells whether virtual addresses are still unused.
var Check = probe.Check[wire.VerifyVIPsRequest]{
	Deadline: 30 * time.Second,
	Validate: func(vips wire.VerifyVIPsRequest) error {
		if len(vips) > 16 {
			return errors.New("more than 16 addresses")
		}
		for _, v := range vips {
			if a, err := netip.ParseAddr(string(v.VIP)); err != nil || a.Zone() != "" || a.IsMulticast() || a.IsUnspecified() {
				return fmt.Errorf("%q is not an address", v.VIP)
			}
			if v.VIPType != wire.VIPTypeAPI && v.VIPType != wire.VIPTypeIngress {
				return fmt.Errorf("vip_type %q is neither api nor ingress", v.VIPType)
			}
		}
		return nil
	},
	Real: verify,
	Dry: func(_ context.Context, _ probe.Env, vips wire.VerifyVIPsRequest) steps.Result {
		out := wire.VerifyVIPsResponse{}
		for _, v := range vips {
			succeeded := wire.VIPVerificationSucceeded
			out = append(out, wire.VerifiedVIP{VIP: v.VIP, VIPType: v.VIPType, Verification: &succeeded})
		}
		return steps.JSON(out)
	},
}
