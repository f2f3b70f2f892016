package sdbus

import (
	"context"

	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const jobRemoved = service + ".Manager.JobRemoved"

// job is a queued job, on the connection that hears of its end.
type job struct {
	bus     *godbus.Conn
	signals chan *godbus.Signal
	path    godbus.ObjectPath
}

// queue listens for the ends of jobs and then queues one, in this order, so that
// its end cannot be missed.
func (m *Manager) queue(ctx context.Context, method string, args ...any) (*job, error) {
	j := &job{}
	err := m.try(ctx, true, func(ctx context.Context, bus *godbus.Conn) error {
		j.bus, j.signals = bus, make(chan *godbus.Signal, 64)
		bus.Signal(j.signals)
		err := bus.AddMatchSignalContext(ctx, godbus.WithMatchInterface(service+".Manager"), godbus.WithMatchMember("JobRemoved"))
		if err != nil {
			return err
		}
		if err := call(ctx, bus, "Subscribe", nil); err != nil {
			return err
		}
		return call(ctx, bus, method, args, &j.path)
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// wait returns the job's result. It is empty without an error when the connection
// broke before: the job goes on.
func (j *job) wait(ctx context.Context) (string, error) {
	defer func() { _ = j.bus.Close() }()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case signal, open := <-j.signals:
			if !open {
				return "", nil
			}
			if result, ended := j.end(signal); ended {
				return result, nil
			}
		}
	}
}

// end reads JobRemoved (id, job, unit, result).
func (j *job) end(signal *godbus.Signal) (result string, ended bool) {
	if signal.Name != jobRemoved || len(signal.Body) < 4 || signal.Body[1] != j.path {
		return "", false
	}
	result, ended = signal.Body[3].(string)
	return result, ended
}

// settled takes the place of a job result that was lost: it follows the unit
// until systemd has no job for it any more.
func (m *Manager) settled(ctx context.Context, name string) (string, error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	updates, err := m.Follow(ctx, name)
	if err != nil {
		return "", err
	}
	for up := range updates {
		switch {
		case up.Err != nil:
			return "", up.Err
		case up.Unit.Job != 0: // it waits for another unit, or runs
		case up.Unit.ActiveState == "active", up.Unit.ActiveState == "inactive":
			return systemd.JobDone, nil
		case up.Unit.ActiveState == "failed":
			return systemd.JobFailed, nil
		}
	}
	return "", context.Cause(ctx)
}
