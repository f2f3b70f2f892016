package ironic

import "context"

// OfNode returns the endpoint that has a node, as its watch knows; the only one
// when there is one. The error is Unavailable: the watch may not have seen the
// node yet.
func (s *Endpoints) OfNode(uuid string) (*Endpoint, error) {
	all := s.All()
	if len(all) == 1 {
		return all[0], nil
	}
	for _, e := range all {
		if _, known := e.Watch.Row(uuid); known {
			return e, nil
		}
	}
	return nil, &Error{Kind: Unavailable, Op: "find a node's Ironic", Node: uuid, Text: "none of the Ironics is known to have it yet"}
}

// FirmwareReader reads what the Ironics know of their nodes' firmware, each node
// from the one that has it.
type FirmwareReader struct{ Endpoints *Endpoints }

// BIOS is [Gateway.BIOS].
func (r FirmwareReader) BIOS(ctx context.Context, uuid string) ([]BIOSSetting, error) {
	e, err := r.Endpoints.OfNode(uuid)
	if err != nil {
		return nil, err
	}
	return e.BIOS(ctx, uuid)
}

// Firmware is [Gateway.Firmware].
func (r FirmwareReader) Firmware(ctx context.Context, uuid string) ([]FirmwareComponent, error) {
	e, err := r.Endpoints.OfNode(uuid)
	if err != nil {
		return nil, err
	}
	return e.Firmware(ctx, uuid)
}

// Lacks is [Gateway.Lacks].
func (r FirmwareReader) Lacks(uuid string) (settings, components bool) {
	e, err := r.Endpoints.OfNode(uuid)
	if err != nil {
		return false, false
	}
	return e.Lacks(uuid)
}
