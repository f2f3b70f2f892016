package settle

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// joinJob is the job that makes the Ignition of a host that joins a cluster which runs.
// Its subject is the host, see [subjectOf]. The order to install comes after it.
const joinJob = "join"

func subjectOf(key store.HostKey) string { return key.InfraEnvID + "/" + key.HostID }

func hostOfSubject(subject string) store.HostKey {
	env, id, _ := strings.Cut(subject, "/")
	return store.HostKey{InfraEnvID: env, HostID: id}
}

// errNoMore tells that a host is not one to be installed any more.
var errNoMore = errors.New("the host does not join a cluster any more")

// startJoining has the Ignition made of the hosts of an installed cluster that are ready,
// each by itself; they are installed with it.
func (w *Work) startJoining(g *evaluate.Group) error {
	for _, m := range g.Members {
		if !m.Approved || m.Status != wire.HostStatusKnown {
			continue
		}
		if wanted, err := w.IsWanted(joinJob, subjectOf(m.Key)); err != nil || wanted {
			if err != nil {
				return err
			}
			continue
		}
		if err := w.Want(joinJob, subjectOf(m.Key)); err != nil {
			return err
		}
	}
	return nil
}

// MakeJoining makes the Ignition of a host that joins a cluster, for [Work.InstallJoining].
// That may take a while, so it is done before the unit of work.
func (u *Units) MakeJoining(ctx context.Context, key store.HostKey) (*Joining, error) {
	var o *order
	err := u.View(ctx, func(w *Work) error {
		h, err := w.Host(key)
		if err != nil {
			return err
		}
		c, err := w.ClusterOf(h)
		if err != nil {
			return err
		}
		if c == nil || !instructions.IsDayTwo(&c.API) || h.API.Status != wire.HostStatusKnown {
			return errNoMore
		}
		o, err = w.order(c, []*store.Host{h})
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := u.make(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Joining{o.Cluster.ID, o.Hosts[0], o.hosts[0], p}, nil
}

// Joining is what was made for a host that joins a cluster.
type Joining struct {
	clusterID string
	// given and ordered are the host as it was made for.
	given   sources.Host
	ordered orderedHost
	made    *proven
}

// isFor tells that the host still is what the Ignition was made for: its settings and its inventory may change while the
// source works.
func (j *Joining) isFor(h *store.Host, c *store.Cluster) bool {
	if h.ClusterID() != j.clusterID {
		return false
	}
	given, ordered := orderHost(h, c)
	return reflect.DeepEqual(given, j.given) && reflect.DeepEqual(ordered, j.ordered)
}

// InstallJoining keeps what was made for a host and orders it to be installed.
func (w *Work) InstallJoining(h *store.Host, j *Joining) error {
	c, err := w.ClusterOf(h)
	if err != nil {
		return err
	}
	if c == nil || !j.isFor(h, c) {
		return apierror.Conflict("host %s is of another cluster by now than its Ignition was made for, or has another role, name, address, disk or setting; try again", evaluate.HostName(h))
	}
	for _, f := range j.made.files {
		w.PutFile(f)
	}
	w.TouchCluster(c) // its version vouches for its files
	h.Unprepared, h.Preparations = "", 0
	if err := w.CallOff(joinJob, subjectOf(h.Key())); err != nil {
		return err
	}
	return w.Trigger(h, hostmachine.Install, "")
}

// makeJoining does the job. That there is nothing to make any more is an outcome as well.
func (u *Units) makeJoining(ctx context.Context, j store.Job) (any, error) {
	made, err := u.MakeJoining(ctx, hostOfSubject(j.Subject))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return err, nil //nolint:nilerr // the failure is the outcome
	}
	return made, nil
}

// joined installs the host with what was made, or says why that cannot be and tries again
// after a pause that doubles.
func (u *Units) joined(ctx context.Context, j store.Job, outcome any, failure error) error {
	return u.Update(ctx, func(w *Work) error {
		if mine, err := w.Ended(j); err != nil || !mine {
			return err
		}
		h, err := w.Host(hostOfSubject(j.Subject))
		if apierror.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		c, err := w.ClusterOf(h)
		if err != nil {
			return err
		}
		if c == nil || !instructions.IsDayTwo(&c.API) || c.Hold || !c.AutoInstall || !h.Approved || h.Restored || h.API.Status != wire.HostStatusKnown {
			return nil // it is wanted again once it is ready
		}
		if made, ok := outcome.(*Joining); ok && failure == nil {
			if !made.isFor(h, c) {
				return w.Want(joinJob, j.Subject)
			}
			return w.InstallJoining(h, made)
		}
		why, _ := outcome.(error)
		return w.unprepared(h, errors.Join(why, failure))
	})
}

// unprepared says once why a host's Ignition could not be made, and has it made again later.
func (w *Work) unprepared(h *store.Host, why error) error {
	h.Preparations++
	reason := "its Ignition could not be made"
	if why != nil {
		reason = why.Error()
	}
	again := w.Now.Add(w.RepeatAfter(h.Preparations))
	if err := w.WantAgain(joinJob, subjectOf(h.Key()), again); err != nil {
		return err
	}
	told := h.Unprepared == reason
	h.Unprepared = reason
	w.Touch(h, store.ChangedHost)
	if told {
		return nil
	}
	return w.HostEvent(h, "prepare_installation_failed", wire.EventSeverityWarning, reason, unit.Props{"error": reason})
}
