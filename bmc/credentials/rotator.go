package credentials

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// Rotator changes the password of one host's BMC. It keeps nothing between passes: all
// that is known is in the record.
type Rotator struct {
	Store Store
	BMC   BMC
	Node  Node
	// Gate is shared by all hosts. Address is the BMC's, as the gate knows it.
	Gate    *Gate
	Address string
	// Random is crypto/rand's Reader, but in tests.
	Random io.Reader
	Now    func() time.Time
	// Log hears one line for each step. Nil is silent.
	Log *slog.Logger
}

const (
	// mostSteps is more than a rotation has; a pass that needs more turns in a circle.
	mostSteps = 60
	// sendTime is how long a change may take, whether or not its pass was cancelled.
	sendTime = 2 * time.Minute
	saltSize = 16
	// mostFailures is after how many in a row a change gives its place to another one.
	mostFailures = 3
)

// errCircle is for a decision that never comes to an end.
var errCircle = errors.New("the rotation of the BMC's password turns in a circle: please report this with the host's condition CredentialsCurrent")

// errTable is for a record that breaks the table of phases.
var errTable = errors.New("a step that the table of phases does not have: please report this with the host's conditions")

// Pass carries a rotation as far as it goes now, and says what it waits for. Of the
// observed, Now, Record, RecordProblem, Secret and Turn are filled in here. An error is
// of the store, or of randomness; what the BMC and Ironic say ends up in the condition.
func (r *Rotator) Pass(ctx context.Context, o rotation.Observed) (rotation.Wait, error) {
	conflicts, room := 0, true
	for range mostSteps {
		if err := ctx.Err(); err != nil {
			return rotation.Wait{}, fmt.Errorf("change the BMC password of host %s: %w", o.Host, err)
		}
		seen := o
		seen.Turn = room
		version, err := r.observe(ctx, &seen)
		if err != nil {
			return rotation.Wait{}, err
		}
		action := rotation.Decide(&seen)
		if wait, is := action.(rotation.Wait); is {
			if wait.For == 0 || seen.Record.Failures >= mostFailures {
				r.Gate.Leave(r.Address, o.Host) // others need not wait for somebody, or for a BMC that is away
			}
			return wait, nil
		}
		if !r.enter(&seen) {
			if seen.Record.UnderWay() {
				return rotation.Turn(&seen), nil
			}
			if _, is := action.(rotation.Stage); is {
				room = false
				continue
			}
		}
		secrets := secretsOf(seen.Record, seen.Secret.Login)
		if _, is := action.(rotation.Save); !is {
			r.log(&seen, action.Name())
		}
		switch err = r.do(ctx, &seen, version, action); {
		case errors.Is(err, ErrConflict) && conflicts < mostConflicts:
			conflicts++
		case err != nil:
			return rotation.Wait{}, fmt.Errorf("change the BMC password of host %s: %s: %w", o.Host, action.Name(), secrets.clean(err))
		}
	}
	return rotation.Wait{}, errCircle
}

// enter takes a place for what is to be done. What has begun needs none that is free.
func (r *Rotator) enter(o *rotation.Observed) bool {
	return r.Gate.Enter(r.Address, o.Host, o.Record.UnderWay())
}

// observe reads the two Secrets and takes or gives back the host's place.
func (r *Rotator) observe(ctx context.Context, o *rotation.Observed) (version string, err error) {
	o.Now, o.Record = r.Now(), &rotation.Record{}
	if o.Secret, err = r.Store.Secret(ctx); err != nil {
		return "", fmt.Errorf("read the BMC Secret of host %s: %w", o.Host, err)
	}
	data, version, err := r.Store.Record(ctx)
	if err != nil {
		return "", fmt.Errorf("read the record of host %s: %w", o.Host, err)
	}
	record, err := rotation.Decode(data)
	if err != nil {
		o.RecordProblem = err.Error()
		return version, nil //nolint:nilerr // what is wrong with the record is in the condition
	}
	o.Record = record
	if !record.UnderWay() || record.Phase == rotation.Quarantined {
		r.Gate.Leave(r.Address, o.Host)
	}
	return version, nil
}

// do carries out one action.
func (r *Rotator) do(ctx context.Context, o *rotation.Observed, version string, action rotation.Action) error {
	switch a := action.(type) {
	case rotation.Save:
		r.log(o, a.What)
		_, err := r.note(ctx, version, o.Record, a.Record)
		return err
	case rotation.Stage:
		return r.stage(ctx, o, version, a)
	case rotation.Send:
		return r.send(ctx, o, version, a)
	case rotation.Try:
		return r.try(ctx, o, version, a)
	case rotation.Promote:
		return r.Store.Promote(ctx, a.Version, a.Login)
	case rotation.Tell:
		return r.tell(ctx, o, version, a)
	case rotation.Prove:
		return r.prove(ctx, o, version)
	}
	return fmt.Errorf("there is no way to %s", action.Name())
}

// stage makes a password and stores it. The account is found before: a rotation that
// cannot be sent is not begun.
func (r *Rotator) stage(ctx context.Context, o *rotation.Observed, version string, a rotation.Stage) error {
	login := o.Secret.Login
	if current, found := o.Record.Login(rotation.Current); found && o.Record.UnderWay() {
		login = current
	}
	made, err := password.Generate(r.Random, a.Recipe, login.Username)
	if err != nil {
		return err
	}
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(r.Random, salt); err != nil {
		return fmt.Errorf("make a salt: %w", err)
	}
	path, route := o.Record.Account, o.Record.Route
	if !o.Record.UnderWay() {
		if path, route, err = r.BMC.Account(ctx, login); err != nil {
			o.Now = r.Now()
			after := rotation.NotFound(o, r.said(o, err))
			if client.KindOf(err) == client.Credentials {
				after = rotation.Unwelcome(o)
			}
			_, err = r.note(ctx, version, o.Record, after)
			return err
		}
	}
	_, err = r.note(ctx, version, o.Record, rotation.Staging(o, made, path, route, salt))
	return secretsOf(o.Record, login, made).clean(err)
}

// note writes the record in the place of another one.
func (r *Rotator) note(ctx context.Context, version string, before, after *rotation.Record) (string, error) {
	if !rotation.Follows(before.Phase, after.Phase) {
		return "", fmt.Errorf("%w: %q does not follow %q", errTable, after.Phase, before.Phase)
	}
	data, err := rotation.Encode(after)
	if err != nil {
		return "", err
	}
	return recordWriter{r.Store}.note(ctx, version, data)
}

// answered writes the record after something that was done in the world.
func (r *Rotator) answered(ctx context.Context, version string, before, after *rotation.Record) error {
	if !rotation.Follows(before.Phase, after.Phase) {
		return fmt.Errorf("%w: %q does not follow %q", errTable, after.Phase, before.Phase)
	}
	was, err := rotation.Encode(before)
	if err != nil {
		return err
	}
	shall, err := rotation.Encode(after)
	if err != nil {
		return err
	}
	return recordWriter{r.Store}.answered(ctx, version, was, shall)
}

func (r *Rotator) send(ctx context.Context, o *rotation.Observed, version string, a rotation.Send) error {
	record := rotation.Sending(o.Record)
	version, err := r.note(ctx, version, o.Record, record)
	if err != nil {
		return err
	}
	// A change that is cut off in the middle has to be found out about for minutes.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer done()
	answer, err := r.BMC.SetPassword(ctx, Change{Login: a.Login, Account: record.Account, Route: record.Route, Password: a.New.Password})
	o.Now = r.Now()
	return r.answered(ctx, version, record, rotation.WasSent(o, record, answer, r.said(o, err)))
}

func (r *Rotator) try(ctx context.Context, o *rotation.Observed, version string, a rotation.Try) error {
	record := rotation.Trying(o, o.Record, a.Role)
	version, err := r.note(ctx, version, o.Record, record)
	if err != nil {
		return err
	}
	verdict, err := r.BMC.Login(ctx, a.Login)
	o.Now = r.Now()
	return r.answered(ctx, version, record, rotation.Tried(o, record, a.Role, verdict, r.said(o, err)))
}

func (r *Rotator) tell(ctx context.Context, o *rotation.Observed, version string, a rotation.Tell) error {
	err := r.Node.Tell(ctx, a.Login)
	o.Now = r.Now()
	record := rotation.WasTold(o, o.Record, r.said(o, err))
	if errors.Is(err, ErrNoNode) {
		record = rotation.Proven(o, o.Record, rotation.Right, "")
	}
	return r.answered(ctx, version, o.Record, record)
}

func (r *Rotator) prove(ctx context.Context, o *rotation.Observed, version string) error {
	verdict, err := r.Node.Prove(ctx)
	if errors.Is(err, ErrNoNode) {
		verdict, err = rotation.Right, nil
	}
	o.Now = r.Now()
	return r.answered(ctx, version, o.Record, rotation.Proven(o, o.Record, verdict, r.said(o, err)))
}

// said is what somebody said, fit for people.
func (r *Rotator) said(o *rotation.Observed, err error) string {
	return secretsOf(o.Record, o.Secret.Login).message(err)
}

func (r *Rotator) log(o *rotation.Observed, step string) {
	if r.Log != nil {
		r.Log.Info("BMC password", "host", o.Host, "step", step, "attempt", o.Record.Attempt)
	}
}
