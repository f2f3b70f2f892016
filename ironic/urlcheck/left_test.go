package urlcheck_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/urlcheck"
)

// slow is an Ironic with one node, which is locked for a while after each image that it is to fetch.
type slow struct {
	takes   time.Duration
	lastErr string
	// lost, unanswered: how often an answer to Create and Delete does not arrive.
	lost, unanswered int
	node             *ironic.Node
	free             time.Time
}

func (s *slow) Create(_ context.Context, e ironic.Enrolment) (*ironic.Node, bool, error) {
	if s.node != nil {
		return s.node, false, nil
	}
	s.node = &ironic.Node{}
	s.node.UUID, s.node.Name, s.node.Extra, s.node.CreatedAt = e.UUID, e.Name, e.Extra, time.Now()
	if s.lost > 0 {
		s.lost--
		return nil, false, away(0)
	}
	return s.node, true, nil
}

func (s *slow) Get(context.Context, string) (*ironic.Node, error) {
	n := *s.node
	if time.Now().Before(s.free) {
		n.Reservation = "conductor"
	} else {
		n.LastError = s.lastErr
	}
	return &n, nil
}

func (s *slow) AttachMedia(context.Context, string, string) error {
	if time.Now().Before(s.free) {
		return &ironic.Error{Kind: ironic.Busy, Status: http.StatusConflict}
	}
	s.free = time.Now().Add(s.takes)
	return nil
}

func (s *slow) DetachMedia(context.Context, string) error { return away(http.StatusServiceUnavailable) }

func (s *slow) Delete(_ context.Context, uuid string) error {
	switch {
	case s.unanswered > 0:
		s.unanswered--
		return away(http.StatusServiceUnavailable)
	case time.Now().Before(s.free):
		return &ironic.Error{Kind: ironic.Busy, Status: http.StatusConflict}
	case s.node != nil && s.node.UUID == uuid:
		s.node = nil
	}
	return nil
}

func away(status int) error { return &ironic.Error{Kind: ironic.Unavailable, Status: status} }

// TestTheNodeIsGone, also where Ironic waits for a minute for an address that swallows packets, as older releases do, and
// where an answer of it is lost on the way.
func TestTheNodeIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		ironic *slow
		want   string
	}{
		"an address that swallows packets": {&slow{takes: time.Minute}, ""},
		"deleted at the second attempt":    {&slow{unanswered: 1, lastErr: "x"}, ""},
		"made, and the answer lost":        {&slow{lost: 1}, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				_, err := urlcheck.Ask(t.Context(), c.ironic, time.Now(), []string{"http://images.test", "https://hub.test"})
				if c.want == "" {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(err).To(MatchError(ContainSubstring(c.want)))
				}
				g.Expect(c.ironic.node).To(BeNil())
			})
		})
	}
}

// TestWhatIsKnownIsSaid, although the rest is not: the time is over, or Ironic does not take a file away again.
func TestWhatIsKnownIsSaid(t *testing.T) {
	errTime := errors.New("the check took longer than 40s")
	for name, c := range map[string]struct {
		ironic *slow
		want   urlcheck.Verdict
		text   string
	}{
		"the time is over":  {&slow{takes: 31 * time.Second}, urlcheck.Unreached, "the check took longer"},
		"a file that stays": {&slow{lastErr: "Redfish connection failed"}, urlcheck.Other, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 40*time.Second, errTime)
				defer cancel()
				answers, err := urlcheck.Ask(ctx, &patient{c.ironic}, time.Now(), []string{"http://images.test", "https://hub.test"})
				g.Expect(err).To(MatchError(ContainSubstring(c.text)))
				g.Expect(answers).To(ConsistOf(HaveField("Verdict", c.want)))
			})
		})
	}
}

// patient has the second address asked about although the first one still is.
type patient struct{ *slow }

func (p *patient) AttachMedia(context.Context, string, string) error {
	p.free = time.Now().Add(p.takes)
	return nil
}
