package polls

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
)

// Speaker is what a host's record says of one who speaks for it.
type Speaker struct {
	// ClusterID is the host's cluster; empty for none.
	ClusterID string
	// Takes tells that the token is good for the host, Outlived that it was until another
	// machine registered as the host.
	Takes, Outlived bool
	// Bearer is what was compared, TwinSeenAt when another machine was last seen to speak.
	Bearer     auth.Bearer
	TwinSeenAt time.Time
}

// doubtAfter is how old a no from memory may be: whoever speaks for hosts that are not
// theirs does not have the hub read all the time.
const doubtAfter = 2 * time.Second

// Speaker tells whether an agent with the token speaks for the host. It comes from memory,
// unless that says no and is not new: another replica may know a later registration.
func (d *Answerer) Speaker(ctx context.Context, key store.HostKey, token auth.Claims) (Speaker, error) {
	s, err := d.Snapshot(ctx, key)
	if err == nil && !s.Bearer.Takes(key.HostID, token) && d.units.Now().Sub(s.ReadAt) > doubtAfter {
		s, err = d.read(ctx, key)
	}
	if err != nil {
		return Speaker{}, err
	}
	return speaker(s, token), nil
}

func speaker(s *snapshots.Host, token auth.Claims) Speaker {
	return Speaker{
		ClusterID: s.ClusterID, Bearer: s.Bearer, TwinSeenAt: s.TwinSeenAt,
		Takes: s.Bearer.Takes(s.Key.HostID, token), Outlived: s.Bearer.Outlived(s.Key.HostID, token),
	}
}
