package standin

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/test/spawn"
)

// BinEnv names the folder with the real host programs (ironflow-agent, …) that
// stand in for /usr/local/bin and /usr/bin of the live image.
const BinEnv = "IRONFLOW_STANDIN_BIN"

// Manager plays systemd for the machine below Root.
type Manager struct {
	root   hostfile.Dir
	binDir string
	thread *spawn.Thread
	lives  sync.WaitGroup

	mu    sync.Mutex
	units map[string]*unit
}

var _ systemd.Manager = (*Manager)(nil)

// New returns a stand-in for the machine whose files lie below root. Programs
// that are missing there are taken from binDir. Close ends it.
func New(root hostfile.Dir, binDir string) *Manager {
	return &Manager{root: root, binDir: binDir, thread: spawn.NewThread(), units: map[string]*unit{}}
}

// Close kills every process of every unit and waits until they are gone.
func (m *Manager) Close() {
	m.thread.Close()
	m.mu.Lock()
	for _, u := range m.units {
		u.abandon()
	}
	m.mu.Unlock()
	m.lives.Wait()
}

// get returns the unit; its unit file is read anew when it does not run, as if
// daemon-reload had been called after each change.
func (m *Manager) get(name string) (*unit, error) {
	if !strings.HasSuffix(name, ".service") || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is not the name of a service unit", name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.units[name]
	if u == nil {
		u = newUnit(m, name)
		m.units[name] = u
	}
	u.reload()
	return u, nil
}

// Start implements systemd.Manager.
func (m *Manager) Start(ctx context.Context, name string) (string, error) {
	u, err := m.get(name)
	if err != nil {
		return "", err
	}
	job, err := u.start()
	if err != nil {
		return "", err
	}
	return job.wait(ctx)
}

// Stop implements systemd.Manager.
func (m *Manager) Stop(ctx context.Context, name string) (string, error) {
	u, err := m.get(name)
	if err != nil {
		return "", err
	}
	return u.stop().wait(ctx)
}

// Unit implements systemd.Manager.
func (m *Manager) Unit(_ context.Context, name string) (systemd.Properties, error) {
	u, err := m.get(name)
	if err != nil {
		return systemd.Properties{}, err
	}
	return u.snapshot(), nil
}

// Follow implements systemd.Manager.
func (m *Manager) Follow(ctx context.Context, name string) (<-chan systemd.Update, error) {
	u, err := m.get(name)
	if err != nil {
		return nil, err
	}
	return u.follow(ctx), nil
}

// Journal implements systemd.Manager.
func (m *Manager) Journal(_ context.Context, name, invocation string, n int) ([]string, error) {
	return journal{root: m.root, unit: name}.tail(invocation, n)
}

// job is a start or stop job; its result is sent once.
type job struct {
	done   chan struct{}
	once   sync.Once
	result string
}

func newJob() *job { return &job{done: make(chan struct{})} }

func (j *job) finish(result string) {
	j.once.Do(func() {
		j.result = result
		close(j.done)
	})
}

func (j *job) wait(ctx context.Context) (string, error) {
	select {
	case <-j.done:
		return j.result, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
