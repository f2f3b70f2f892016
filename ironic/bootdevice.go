package ironic

import "context"

// BootDevice asks the BMC, through Ironic, which boot device is set: "pxe", "disk" …
// Ironic keeps no copy, so that an answer also shows that it can log in at the BMC.
func (g *Gateway) BootDevice(ctx context.Context, uuid string) (string, error) {
	var answer struct {
		Device string `json:"boot_device"`
	}
	err := g.get(ctx, "get boot device", uuid, nodePath(uuid, "management", "boot_device"), &answer)
	return answer.Device, err
}
