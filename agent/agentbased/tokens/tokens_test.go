package tokens_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/tokens"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// noTerminal is a host without one.
type noTerminal struct{}

func (noTerminal) Run(context.Context, command.Command) error { return errors.New("no terminal") }

// token is one that ends at a time of its own; nobody looks at its signature here.
func token(end time.Time) string {
	claims := fmt.Sprintf(`{"auth_scheme":"userAuth","exp":%d}`, end.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

type scene struct {
	dir   hostfile.Dir
	ready int
	ended chan error
	stop  func()
}

func begin(t *testing.T, settings string) *scene {
	s := &scene{dir: hostfile.Dir{Root: t.TempDir()}, ended: make(chan error, 1)}
	if err := places.Write(s.dir, places.AddNodes, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	p := tokens.Program{Dir: s.dir, Log: log, Console: &messages.Console{Dir: s.dir, Commands: noTerminal{}, Log: log}, Ready: func() { s.ready++ }}
	go func() { s.ended <- p.Run(ctx) }()
	synctest.Wait()
	return s
}

func (s *scene) says() string {
	synctest.Wait()
	raw, _ := os.ReadFile(s.dir.Path("/etc/motd.d/65_token"))
	return string(raw)
}

func TestTokensThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // starts at 2000-01-01 00:00:00 UTC
		g := NewWithT(t)
		s := begin(t, "USER_AUTH_TOKEN="+token(time.Now().Add(48*time.Hour))+"\nWATCHER_AUTH_TOKEN="+token(time.Now().Add(2*time.Hour)))
		g.Expect(s.ready).To(Equal(1))
		g.Expect(s.says()).To(BeEmpty())
		<-time.After(70 * time.Minute)
		g.Expect(s.says()).To(Equal("The authentication token of this image ends at 2000-01-01T02:00:00Z; a host that is not installed by then needs a new image.\n"))
		g.Expect(<-s.ended).To(MatchError("the authentication token has ended at 2000-01-01T02:00:00Z"))
		g.Expect(s.says()).To(ContainSubstring("Installation cannot proceed: the authentication token of this image has ended at 2000-01-01T02:00:00Z, and this host's clock says 2000-01-01T02:00Z."))
		g.Expect(s.ready).To(Equal(1))
	})
}

// A token that has ended before holds the others up; a new clock, or a new token, ends that.
func TestTokensThatHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := begin(t, "AUTH_TOKEN_EXPIRY=1999-12-31T12:00:00Z\n")
		<-time.After(10 * time.Minute)
		g.Expect(s.says()).To(ContainSubstring("has ended at 1999-12-31T12:00:00Z"))
		g.Expect(s.ready).To(BeZero())
		g.Expect(places.Write(s.dir, places.AddNodes, nil, 0o600)).To(Succeed())
		<-time.After(6 * time.Second)
		g.Expect(s.says()).To(BeEmpty())
		g.Expect(s.ready).To(Equal(1))
		s.stop()
		g.Expect(<-s.ended).To(MatchError(context.Canceled))
	})
}

func TestTokensThatCannotBeRead(t *testing.T) {
	for settings, want := range map[string]string{
		"USER_AUTH_TOKEN=topsecret":         "USER_AUTH_TOKEN: it is no JSON web token: it has 1 parts, not 3",
		"AGENT_AUTH_TOKEN=a.!.topsecret":    "AGENT_AUTH_TOKEN: it is no JSON web token: its claims are not base64",
		"AGENT_AUTH_TOKEN=a.e30x.topsecret": "AGENT_AUTH_TOKEN: it is no JSON web token: its claims are not JSON",
		"AUTH_TOKEN_EXPIRY=soon":            `AUTH_TOKEN_EXPIRY "soon": want a time such as 2026-01-31T12:00:00Z`,
	} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			s := begin(t, settings)
			g.Expect(<-s.ended).To(MatchError(want))
			g.Expect(s.says()).To(ContainSubstring("Installation cannot proceed: the authentication tokens of this image cannot be used: "+want), "nobody would know why nothing is installed")
			g.Expect(s.says()).NotTo(ContainSubstring("topsecret"))
			g.Expect(s.ready).To(BeZero())
		})
	}
}
