package ironic

import (
	"context"
	"net/http"
	"time"
)

// PowerRequest asks for a power action.
type PowerRequest struct {
	Target  PowerState    // PowerOn, PowerOff, PowerSoftOff, PowerRebooting or PowerSoftRebooting
	Timeout time.Duration // of a soft action, in whole seconds; zero for Ironic's default
}

// wirePower is the body of PUT states/power.
type wirePower struct {
	Target  PowerState `json:"target"`
	Timeout int        `json:"timeout,omitempty"`
}

// SetPower asks for a power action. Accepted means that Ironic works on it;
// target_power_state is set meanwhile. Soft actions that the driver does not
// offer are Rejected.
func (g *Gateway) SetPower(ctx context.Context, uuid string, r PowerRequest) error {
	return g.do(ctx, call{
		op: "set " + string(r.Target), node: uuid, method: http.MethodPut,
		path: nodePath(uuid, "states", "power"),
		body: wirePower{Target: r.Target, Timeout: int(r.Timeout / time.Second)},
	})
}
