package ironic

import (
	"context"
	"net/http"
)

// MediaDevice is one virtual media device of a node's BMC.
type MediaDevice struct {
	Image      string   `json:"image"` // URL as the BMC shows it
	Inserted   bool     `json:"inserted"`
	MediaTypes []string `json:"media_types"`
}

// VirtualMedia asks the BMC, through Ironic, what is inserted. It needs
// FeatureVirtualMediaStatus.
func (g *Gateway) VirtualMedia(ctx context.Context, uuid string) ([]MediaDevice, error) {
	const op = "get virtual media"
	if g.lacks(ctx, FeatureVirtualMediaStatus) {
		return nil, g.unsupported(op, uuid, FeatureVirtualMediaStatus)
	}
	var devices []MediaDevice
	if err := g.get(ctx, op, uuid, nodePath(uuid, "vmedia"), &devices); err != nil {
		return nil, err
	}
	return devices, nil
}

// AttachMedia asks Ironic to insert an image as a CD. Ironic fetches the image
// itself, whose server must say its length, and works in the background:
// VirtualMedia shows success, FailureReason has the text of a failure.
func (g *Gateway) AttachMedia(ctx context.Context, uuid, imageURL string) error {
	return g.do(ctx, call{
		op: "attach virtual media", node: uuid, method: http.MethodPost, path: nodePath(uuid, "vmedia"),
		body: map[string]any{"device_type": "cdrom", "image_url": imageURL},
	})
}

// DetachMedia asks Ironic to eject the CD.
func (g *Gateway) DetachMedia(ctx context.Context, uuid string) error {
	return g.do(ctx, call{
		op: "detach virtual media", node: uuid, method: http.MethodDelete,
		path: nodePath(uuid, "vmedia") + "?device_types=cdrom",
	})
}
