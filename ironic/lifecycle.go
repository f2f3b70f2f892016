package ironic

import (
	"context"
	"net/http"
)

// SetMaintenance puts the node under maintenance, with a reason for people to
// read, or takes it out.
func (g *Gateway) SetMaintenance(ctx context.Context, uuid string, on bool, reason string) error {
	c := call{op: "unset maintenance", node: uuid, method: http.MethodDelete, path: nodePath(uuid, "maintenance")}
	if on {
		c.op, c.method, c.body = "set maintenance", http.MethodPut, map[string]string{"reason": reason}
	}
	return g.do(ctx, c)
}

// Delete removes the node from Ironic without touching the machine; a node that
// is gone counts as removed. An instance id, with which Ironic refuses, is
// removed first. In states where Ironic demands maintenance, set it before.
func (g *Gateway) Delete(ctx context.Context, uuid string) error {
	err := g.deleteNode(ctx, uuid)
	if KindOf(err) != Rejected {
		g.bare.learn(uuid, lacks{}) // what was known of it goes with it
		return ignoreGone(err)
	}
	n, readErr := g.read(ctx, uuid)
	if readErr != nil {
		return ignoreGone(readErr)
	}
	if n.InstanceUUID == "" {
		return err
	}
	none := ""
	if _, _, err := g.Update(ctx, n, Desired{InstanceUUID: &none}); err != nil {
		return ignoreGone(err)
	}
	return ignoreGone(g.deleteNode(ctx, uuid))
}

func (g *Gateway) deleteNode(ctx context.Context, uuid string) error {
	return g.do(ctx, call{op: "delete node", node: uuid, method: http.MethodDelete, path: nodePath(uuid)})
}

func ignoreGone(err error) error {
	if KindOf(err) == Gone {
		return nil
	}
	return err
}
