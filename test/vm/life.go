package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/vm/nvram"
	"github.com/ironflow/ironflow/test/vm/qmp"
)

// connectLimit is how long QEMU may take until it connects, on a machine with
// much else to do.
const connectLimit = 5 * time.Minute

// program is QEMU.
const program = "qemu-system-x86_64"

// life is one QEMU process, from a start to its end, with its TPM. Its methods
// belong to the machine's goroutine, but for those of ctx and qmp.
type life struct {
	machine *Machine
	// ctx ends with the life; with interrupt before that.
	ctx    context.Context //nolint:containedctx // it is the life's own
	cancel context.CancelCauseFunc
	qemu   *guard.Process
	tpm    *guard.Process
	qmp    *qmp.Client
	// events end when QEMU has gone.
	events chan qmp.Event
	// keyboard is a connection to the serial console, once somebody has typed; the
	// machine's lock guards it.
	keyboard net.Conn
	// how it ended, once it has.
	how end
	// moving is for a tray that this program moves, not the guest.
	moving atomic.Bool

	medium
}

// errInterrupted is why something was given up.
var errInterrupted = errors.New("the power was taken away")

// startLife starts QEMU and its TPM, the processors standing still.
func (m *Machine) startLife(ctx context.Context, p plan) (*life, error) {
	l := &life{machine: m, events: make(chan qmp.Event, 256), how: endDied}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	m.mu.Lock()
	m.life = l
	m.mu.Unlock()
	f, err := m.prepare(p)
	if err != nil {
		return nil, err
	}
	if f.tpm != "" {
		if err := l.startTPM(f.tpm); err != nil {
			return nil, err
		}
	}
	_ = os.Remove(f.qmp)
	_ = os.Remove(f.console)
	listener, err := new(net.ListenConfig).Listen(l.ctx, "unix", f.qmp)
	if err != nil {
		return nil, fmt.Errorf("socket for QEMU: %w", err)
	}
	defer listener.Close()
	if l.qemu, err = m.guard("qemu", program, arguments(m.config, p, f)); err != nil {
		return nil, err
	}
	client, err := l.connect(listener)
	if err != nil {
		return nil, fmt.Errorf("%w; QEMU says: %s", err, l.lastWords())
	}
	m.mu.Lock()
	l.qmp = client
	m.mu.Unlock()
	go func() {
		<-client.Done()
		close(l.events)
	}()
	return l, nil
}

// connect waits for QEMU's connection, as long as it runs.
func (l *life) connect(listener net.Listener) (*qmp.Client, error) {
	ctx, cancel := context.WithTimeoutCause(l.ctx, connectLimit, fmt.Errorf("QEMU has not connected within %s", connectLimit))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	go func() {
		select {
		case <-l.qemu.Done():
			fail(fmt.Errorf("QEMU has ended: %w", l.qemu.Err()))
		case <-ctx.Done():
		}
	}()
	return qmp.Accept(ctx, listener, func(event qmp.Event) {
		if event.Name == "DEVICE_TRAY_MOVED" && l.moving.Load() {
			return
		}
		select {
		case l.events <- event:
		case <-l.ctx.Done():
		}
	})
}

// prepare makes the files for a start: the machine's own NVRAM, if it has none.
func (m *Machine) prepare(p plan) (files, error) {
	f := files{
		qmp: filepath.Join(m.sockets, "qmp"), console: m.ConsoleSocket(), log: m.ConsoleLog(), journal: m.JournalLog(),
	}
	if m.config.TPM {
		f.tpm = filepath.Join(m.sockets, "tpm")
	}
	for i := range m.config.Disks {
		f.disks = append(f.disks, m.DiskPath(i))
	}
	var template string
	f.code, template, f.nvram = firmwareFiles(m.config, p)
	if f.nvram == "" {
		return f, nil
	}
	if err := writeNVRAM(f.nvram, template, p.httpBoot); err != nil {
		return f, fmt.Errorf("the machine's NVRAM: %w", err)
	}
	return f, nil
}

// writeNVRAM makes the NVRAM, if there is none, and sets what is to be booted by
// HTTP.
func writeNVRAM(path, template, httpBoot string) error {
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		raw, err = os.ReadFile(template)
	}
	if err != nil {
		return err
	}
	store, err := nvram.Open(raw)
	if err != nil {
		return err
	}
	if err := store.SetHTTPBoot(httpBoot); err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600) //nolint:gosec // the file is in the machine's own folder
}

// startTPM starts a TPM whose state stays in the machine's folder. It ends with
// QEMU's connection.
func (l *life) startTPM(socket string) error {
	state := filepath.Join(l.machine.config.Dir, "tpm")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	_ = os.Remove(socket)
	var err error
	l.tpm, err = l.machine.guard("swtpm", "swtpm", []string{
		"socket", "--tpm2", "--tpmstate", "dir=" + state, "--ctrl", "type=unixio,path=" + socket, "--terminate", "--flags", "startup-clear",
	})
	if err != nil {
		return err
	}
	return l.awaitFile(socket, l.tpm)
}

// awaitFile waits until a program has made its socket.
func (l *life) awaitFile(path string, process *guard.Process) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-process.Done():
			return fmt.Errorf("swtpm has ended: %w", process.Err())
		case <-l.ctx.Done():
			return context.Cause(l.ctx)
		case <-tick.C:
		}
	}
}

// guard starts a program whose output goes to a file of its name in the
// machine's folder, begun anew.
func (m *Machine) guard(name, path string, args []string) (*guard.Process, error) {
	output, err := os.Create(filepath.Join(m.config.Dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer output.Close()
	return guard.Start(guard.Command{Path: path, Args: args, Dir: m.config.Dir, Output: output})
}

// interrupt gives up what the machine waits for; a life of nil has nothing.
func (l *life) interrupt() {
	if l != nil {
		l.cancel(errInterrupted)
	}
}

// kill ends QEMU and its TPM at once; a life of nil has none.
func (l *life) kill() {
	if l == nil {
		return
	}
	l.cancel(errInterrupted)
	if l.qmp != nil {
		l.qmp.Close()
	}
	for _, process := range []*guard.Process{l.qemu, l.tpm} {
		if process != nil {
			process.Kill()
		}
	}
}

// lastWords is the end of what QEMU has printed.
func (l *life) lastWords() string {
	file, err := os.Open(filepath.Join(l.machine.config.Dir, "qemu.log"))
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// setDrive puts another block node behind a disk.
func (l *life) setDrive(ctx context.Context, id, node string) error {
	return l.qmp.Execute(ctx, "qom-set", map[string]any{"path": "/machine/peripheral/" + id, "property": "drive", "value": node}, nil)
}

// happened follows one of QEMU's events.
func (l *life) happened(event qmp.Event) {
	switch event.Name {
	case "SHUTDOWN":
		var data struct{ Reason string }
		_ = event.Decode(&data)
		if l.how != endDied || strings.HasPrefix(data.Reason, "host-") {
			return
		}
		l.how = endOf(data.Reason)
		// It stands still; quit makes it close its files, and its end is what is waited for.
		go func() { _ = l.qmp.Execute(l.ctx, "quit", nil, nil) }()
	case "BLOCK_IO_ERROR":
		var data struct {
			Operation, Action, Reason string
			Node                      string `json:"node-name"`
		}
		_ = event.Decode(&data)
		switch {
		case data.Action == "stop":
			l.readFailed(data.Reason)
		case strings.HasPrefix(data.Node, mediumNode):
			l.machine.record(EventMediumError, data.Reason)
		default:
			l.machine.record(EventDiskError, fmt.Sprintf("%s of %s: %s", data.Operation, data.Node, data.Reason))
		}
	case "DEVICE_TRAY_MOVED":
		var data struct {
			ID   string `json:"id"`
			Open bool   `json:"tray-open"`
		}
		_ = event.Decode(&data)
		if data.Open {
			l.machine.record(EventEjected, "by the guest")
		}
	}
}
