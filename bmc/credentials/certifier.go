package credentials

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// Certifier replaces the certificate of one host's BMC. It keeps nothing between
// passes. It shares the gate with the [Rotator]: of a password and a certificate, one
// is changed at a time.
type Certifier struct {
	Records Records
	Server  Server
	Issuer  Issuer
	Truster Truster
	Node    Node
	Gate    *Gate
	Address string
	Now     func() time.Time
	// Log hears one line for each step. Nil is silent.
	Log *slog.Logger
}

// errTurns is for a decision that never comes to an end.
var errTurns = errors.New("the replacement of the BMC's certificate turns in a circle: please report this with the host's conditions")

// Pass carries a replacement as far as it goes now, and says what it waits for. Of the
// observed, Now, Record, Served, Trust and Turn are filled in here. An error is of the
// objects; what the BMC, the issuer and Ironic say ends up in the condition.
func (c *Certifier) Pass(ctx context.Context, o certificate.Observed) (certificate.Wait, error) {
	conflicts, room := 0, true
	for range mostSteps {
		if err := ctx.Err(); err != nil {
			return certificate.Wait{}, fmt.Errorf("replace the BMC certificate of host %s: %w", o.Host, err)
		}
		seen := o
		seen.Turn = room
		version, trusted, err := c.observe(ctx, &seen)
		if err != nil {
			return certificate.Wait{}, err
		}
		action := certificate.Decide(&seen)
		if wait, is := action.(certificate.Wait); is {
			if wait.For == 0 || wait.Condition.Reason == reason.NeedsReset || seen.Record.Failures >= mostFailures {
				c.Gate.Leave(c.Address, c.owner(&seen))
			}
			return wait, nil
		}
		if !c.Gate.Enter(c.Address, c.owner(&seen), seen.Record.UnderWay()) {
			if !room {
				return certificate.Turn(&seen), nil
			}
			room = false
			continue
		}
		c.log(&seen, action)
		switch err = c.do(ctx, &seen, version, trusted, action); {
		case errors.Is(err, ErrConflict) && conflicts < mostConflicts:
			conflicts++
		case err != nil:
			return certificate.Wait{}, fmt.Errorf("replace the BMC certificate of host %s: %s: %w", o.Host, action.Name(), err)
		}
	}
	return certificate.Wait{}, errTurns
}

// owner is the host as the gate knows it here: a password of the same host is another's.
func (c *Certifier) owner(o *certificate.Observed) string { return CertificateOwner(o.Host) }

// CertificateOwner is the owner of a place at the [Gate] for the certificate of a host's BMC.
func CertificateOwner(host string) string { return host + " (certificate)" }

// observe reads the record and what is trusted, looks at what is served, and gives the
// host's place back if it needs none.
func (c *Certifier) observe(ctx context.Context, o *certificate.Observed) (version, trusted string, err error) {
	data, version, err := c.Records.Record(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the record of host %s: %w", o.Host, err)
	}
	o.Now, o.Record = c.Now(), certificate.Decode(data)
	if o.Trust, trusted, err = c.Truster.Trust(ctx); err != nil {
		return "", "", fmt.Errorf("read what the BMC of host %s is trusted by: %w", o.Host, err)
	}
	if !o.Record.UnderWay() {
		c.Gate.Leave(c.Address, c.owner(o))
	}
	if c.looks(o) {
		served, err := c.Server.Served(ctx)
		if err == nil {
			o.Served = served
		}
	}
	return version, trusted, nil
}

// looks reports whether a decision depends on what the BMC serves: while it is proven,
// and at rest if something may be due.
func (c *Certifier) looks(o *certificate.Observed) bool {
	if o.Now.Before(o.Record.NotBefore) {
		return false
	}
	resting := o.Record.Phase == certificate.Rested && o.Issuer != "" && o.Through == ""
	return resting || o.Record.Phase == certificate.Proving
}

// do carries out one action.
func (c *Certifier) do(ctx context.Context, o *certificate.Observed, version, trusted string, action certificate.Action) error {
	var after *certificate.Record
	before := o.Record
	switch a := action.(type) {
	case certificate.Save:
		after = a.Record
	case certificate.Generate:
		request, err := c.Server.Generate(ctx, a.Names)
		o.Now = c.Now()
		if after = certificate.Generated(o, request); err != nil {
			after = certificate.NotGenerated(o, errors.Is(err, ErrUnsupported), short(err))
		}
	case certificate.Sign:
		chain, ca, err := c.Issuer.Sign(ctx, a.ID, a.Request)
		o.Now = c.Now()
		if after = certificate.Signed(o, chain, ca); err != nil {
			after = certificate.NotSigned(o, errors.Is(err, ErrPending), short(err))
		}
	case certificate.SetTrust:
		if err := c.Truster.SetTrust(ctx, trusted, a.Trust); err != nil {
			return err
		}
		after = a.Then
	case certificate.Install:
		before = certificate.Sending(o)
		var err error
		if version, err = c.note(ctx, version, before); err != nil {
			return err
		}
		answer, err := c.install(ctx, a.Chain)
		o.Now = c.Now()
		after = certificate.Installed(o, before, answer, short(err))
	case certificate.Prove:
		verdict, err := c.Node.Prove(ctx)
		if errors.Is(err, ErrNoNode) {
			verdict, err = rotation.Right, nil
		}
		o.Now = c.Now()
		after = certificate.Proven(o, verdict, short(err))
	}
	return c.answered(ctx, version, before, after)
}

// install sends a certificate; one that is cut off costs minutes of looking.
func (c *Certifier) install(ctx context.Context, chain []byte) (rotation.Answer, error) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer done()
	return c.Server.Install(ctx, chain)
}

func (c *Certifier) note(ctx context.Context, version string, record *certificate.Record) (string, error) {
	data, err := certificate.Encode(record)
	if err != nil {
		return "", err
	}
	return recordWriter{c.Records}.note(ctx, version, data)
}

func (c *Certifier) answered(ctx context.Context, version string, before, after *certificate.Record) error {
	if !certificate.Follows(before.Phase, after.Phase) {
		return fmt.Errorf("%w: %q does not follow %q", errTable, after.Phase, before.Phase)
	}
	was, err := certificate.Encode(before)
	if err != nil {
		return err
	}
	shall, err := certificate.Encode(after)
	if err != nil {
		return err
	}
	if same(was, shall) {
		return nil
	}
	return recordWriter{c.Records}.answered(ctx, version, was, shall)
}

// short is what an error says, on one line and not too long.
func short(err error) string { return (&scrubber{}).message(err) }

func (c *Certifier) log(o *certificate.Observed, action certificate.Action) {
	if c.Log != nil {
		c.Log.Info("BMC certificate", "host", o.Host, "step", action.Name(), "attempt", o.Record.Attempt)
	}
}
