// Package tokens watches the authentication tokens of an image for hosts that join a
// running cluster: they end after some days, and a host that boots such an image later
// would be refused at each call without anybody knowing why. The main type is [Program].
package tokens

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// every is how often the clock is looked at; it may be set meanwhile.
	every = 5 * time.Second
	// early is how long before the end people are warned.
	early = time.Hour
)

// Program says when tokens end.
type Program struct {
	Dir     hostfile.Dir
	Console *messages.Console
	Log     *slog.Logger
	// Ready is called once the tokens are found good: what waits for this may start.
	Ready func()
}

// Run returns never but with the context's end while the tokens are good, and waits as long
// as they are not: other units wait with it. Tokens that end later make it an error, with
// which systemd stops the units that need it.
func (p Program) Run(ctx context.Context) error {
	good := false
	for {
		end, err := p.end()
		if err != nil { // nobody here would know otherwise why nothing is installed
			p.Console.Fail(ctx, messages.TokensUnusable, err)
			return err
		}
		now := time.Now()
		switch {
		case end.IsZero() || now.Add(early).Before(end):
			p.Console.Clear(ctx, messages.SlotTokens)
		case now.Before(end):
			p.Console.Show(ctx, messages.TokensExpire, end.UTC().Format(time.RFC3339))
		default:
			p.Console.Show(ctx, messages.TokensExpired, end.UTC().Format(time.RFC3339), now.UTC().Format("2006-01-02T15:04Z"))
			if good {
				return fmt.Errorf("the authentication token has ended at %s", end.UTC().Format(time.RFC3339))
			}
		}
		if !good && (end.IsZero() || now.Before(end)) {
			good = true
			p.Ready()
		}
		if err := pause.For(ctx, every); err != nil {
			return err
		}
	}
}

// end is when the first of this host's tokens ends; zero for never.
func (p Program) end() (time.Time, error) {
	settings, err := places.Settings(p.Dir)
	if err != nil {
		return time.Time{}, err
	}
	return ends(settings)
}

// ends is when the first of the tokens ends; zero for never. Their signatures are the hub's
// business.
func ends(settings map[string]string) (first time.Time, err error) {
	take := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if text := settings[places.TokenExpiry]; text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return first, fmt.Errorf("%s %q: want a time such as 2026-01-31T12:00:00Z", places.TokenExpiry, text)
		}
		take(t)
	}
	for _, name := range []string{places.UserToken, places.AgentToken, places.WatcherToken} {
		if settings[name] == "" {
			continue
		}
		t, err := expiry(settings[name])
		if err != nil {
			return first, fmt.Errorf("%s: %w", name, err)
		}
		take(t)
	}
	return first, nil
}

// expiry reads the claim "exp" of a JSON web token; zero without one. Errors do not show
// the token.
func expiry(token string) (time.Time, error) {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return time.Time{}, fmt.Errorf("it is no JSON web token: it has %d parts, not 3", len(parts))
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}, errors.New("it is no JSON web token: its claims are not base64")
	}
	var claims struct {
		Exp *float64 `json:"exp"`
	}
	if err := json.Unmarshal(raw, &claims); err != nil {
		return time.Time{}, errors.New("it is no JSON web token: its claims are not JSON")
	}
	if claims.Exp == nil {
		return time.Time{}, nil
	}
	return time.Unix(int64(*claims.Exp), 0), nil
}
