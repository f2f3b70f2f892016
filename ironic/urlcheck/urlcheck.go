// Package urlcheck has an Ironic look whether it reaches addresses of Ironflow. No machine is touched: the only one is a
// node whose BMC does not exist, which is never managed or powered, and which is deleted again.
//
// Ironic has no call for that. What it does have is virtual media: before it asks a BMC to insert an image, it fetches the
// image itself, and what is in the way of that is the node's last error. So it is told to insert an image for which
// Ironflow's servers answer 410 (names.AskedPath): an error with that number proves that it got through to us, and nothing
// follows, since there is no image. Where somebody else answers with a file, Ironic goes on to the BMC, and fails before it
// asks anybody: the address has a scheme that no client knows, and a name that exists nowhere (.invalid, RFC 6761).
//
// The call GET /v1/nodes/{n}/validate is no way: Ironic asks for the node's image there, too (HEAD), but keeps to itself
// what came of it.
package urlcheck

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

const (
	// NodeName is the name of the node by which Ironic is asked: one at a time, and one that was left is found again. No
	// object of Kubernetes can have it: a node with the name of a host, also without its namespace, may be taken for the
	// host's by baremetal-operator.
	NodeName = "ironflow_check"
	// bmc is the address of its BMC. With one that could be connected to, Ironic would try for minutes.
	bmc = "none://bmc.invalid"
	// marker, in the node's extra, says that it is ours.
	marker = "ironflow_check"
	// abandoned is the age at which a node was left behind by a check that was killed.
	abandoned = 10 * time.Minute
	// patience is how long Ironic may take for one address. Its own limit for one that swallows packets is 5 s; in older
	// releases it was 60 s.
	patience = 30 * time.Second
	// look is the pause between looks at the node.
	look = 250 * time.Millisecond
	// cleanUp is how long the deletion of the node may take, also after the check was cancelled: with patience, longer than
	// an older Ironic waits for an address, during which the node is locked.
	cleanUp = 45 * time.Second
)

// ErrLeft says that the node could not be deleted.
var ErrLeft = fmt.Errorf("the node %s is left in Ironic; the next check deletes it once it is %s old", NodeName, abandoned)

// ErrBusy says that another check asks the same Ironic, or was killed a moment ago.
var ErrBusy = fmt.Errorf("another check asks it at the moment, or was killed less than %s ago: its node %s is in Ironic", abandoned, NodeName)

// Gateway is what is called of an Ironic.
type Gateway interface {
	Create(ctx context.Context, e ironic.Enrolment) (n *ironic.Node, created bool, err error)
	Get(ctx context.Context, uuid string) (*ironic.Node, error)
	AttachMedia(ctx context.Context, uuid, imageURL string) error
	DetachMedia(ctx context.Context, uuid string) error
	Delete(ctx context.Context, uuid string) error
}

// Ask has an Ironic look at addresses of Ironflow, one after the other, and returns an answer for each. The first one counts
// most: an older Ironic that waits for it cannot be asked for the next. An error says why it was not asked for the rest, or
// that the node is still in Ironic ([ErrLeft]).
func Ask(ctx context.Context, g Gateway, now time.Time, urls []string) (answers []Answer, err error) {
	node, err := enrol(ctx, g, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx), g, node)) }()
	for _, url := range urls {
		answer, err := ask(ctx, g, node, url)
		if answer.Verdict != "" {
			answers = append(answers, answer)
		}
		if err != nil {
			return answers, err
		}
	}
	return answers, nil
}

// enrol makes the node, in the place of one that an earlier check has left.
func enrol(ctx context.Context, g Gateway, now time.Time) (id string, err error) {
	n, created, err := create(ctx, g)
	if err != nil || created {
		return idOf(n), err
	}
	if n.Extra[marker] != true {
		return "", fmt.Errorf("a node of somebody else has the name %s", NodeName)
	}
	if now.Sub(n.CreatedAt) < abandoned {
		return "", ErrBusy
	}
	if err := remove(ctx, g, n.UUID); err != nil {
		return "", err
	}
	if n, created, err = create(ctx, g); err == nil && !created {
		err = ErrBusy
	}
	return idOf(n), err
}

// create makes the node by an id of our own: if the answer is lost, it can be told from the node of another check, and goes.
func create(ctx context.Context, g Gateway) (n *ironic.Node, created bool, err error) {
	no := false
	node := ironic.Enrolment{
		UUID: uuid.NewString(), Name: NodeName, Driver: "redfish", AutomatedClean: &no, Extra: map[string]any{marker: true},
		DriverInfo: map[string]any{"redfish_address": bmc, "redfish_system_id": "/redfish/v1/Systems/none"},
	}
	n, created, err = g.Create(ctx, node)
	if err != nil && passes(err) {
		lost, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		_ = g.Delete(lost, node.UUID) // if that fails, too, Ironic is away, which the first error says
	}
	return n, created, err
}

func idOf(n *ironic.Node) string {
	if n == nil {
		return ""
	}
	return n.UUID
}

// ask has Ironic fetch from one address. A node that is still busy with another address cannot be asked.
func ask(ctx context.Context, g Gateway, id, url string) (Answer, error) {
	if err := g.AttachMedia(ctx, id, strings.TrimSuffix(url, "/")+names.AskedPath); err != nil {
		if ironic.KindOf(err) == ironic.Busy {
			return Answer{URL: url, Verdict: Unknown, Text: "it was busy with the address before"}, nil
		}
		return Answer{}, err
	}
	n, err := settle(ctx, g, id)
	if err != nil {
		return Answer{}, err
	}
	if n == nil {
		return Answer{URL: url, Verdict: Unreached, Text: fmt.Sprintf("no answer within %s", patience)}, nil
	}
	a, fetched := judge(url, n.LastError)
	if fetched { // Ironic keeps the file until it is told that the medium goes
		if err := g.DetachMedia(ctx, id); err != nil {
			return a, fmt.Errorf("the file from %s may be left in Ironic: %w", ironic.Redact(url), err)
		}
		_, err = settle(ctx, g, id)
	}
	return a, err
}

// settle returns the node once Ironic has done what it was told; nil after a while.
func settle(ctx context.Context, g Gateway, id string) (*ironic.Node, error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		n, err := g.Get(ctx, id)
		if err != nil || n.Reservation == "" {
			return n, err
		}
		select {
		case <-ticker.C:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, nil
		}
	}
}

// remove deletes the node. While Ironic still waits for an address, it is locked.
func remove(ctx context.Context, g Gateway, id string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUp)
	defer cancel()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		err := g.Delete(ctx, id)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
			if passes(err) {
				continue
			}
		case <-ctx.Done():
		}
		return fmt.Errorf("%w: %w", ErrLeft, err)
	}
}

// passes reports whether the same call may succeed later on: Ironic is busy or away, and has not refused it.
func passes(err error) bool {
	e, typed := errors.AsType[*ironic.Error](err)
	if typed && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) {
		return false
	}
	kind := ironic.KindOf(err)
	return kind == ironic.Busy || kind == ironic.Unavailable
}
