package sdbus

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// freezes is a bus on whose other side systemd answers only some calls, as one
// does that was stopped (SIGSTOP): no call fails, no connection breaks.
type freezes struct {
	address string
	// answered are the methods that systemd answers; the bus itself answers always,
	// unless it is frozen, too.
	answered map[string]bool
	busToo   bool

	mu  sync.Mutex
	hit map[string]int
}

func frozen(t *testing.T, busToo bool, answered ...string) *freezes {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bus")
	f := &freezes{address: "unix:path=" + path, answered: map[string]bool{}, busToo: busToo, hit: map[string]int{}}
	for _, method := range answered {
		f.answered[method] = true
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = conn.Close() })
			wait.Go(func() { _ = f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		stop()
		_ = listener.Close()
		wait.Wait()
	})
	return f
}

// serve speaks the part of the bus that a client needs to call a method.
func (f *freezes) serve(conn net.Conn) error {
	if f.busToo {
		_, err := io.Copy(io.Discard, conn)
		return err
	}
	in := bufio.NewReader(conn)
	for begun := false; !begun; {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		answer := "ERROR\r\n"
		switch word, _, _ := strings.Cut(strings.Trim(line, "\x00\r\n"), " "); word {
		case "AUTH":
			answer = "OK 0123456789abcdef0123456789abcdef\r\n"
			if !strings.Contains(line, "EXTERNAL") {
				answer = "REJECTED EXTERNAL\r\n"
			}
		case "NEGOTIATE_UNIX_FD":
			answer = "AGREE_UNIX_FD\r\n"
		case "BEGIN":
			begun, answer = true, ""
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return err
		}
	}
	for {
		asked, err := godbus.DecodeMessage(in)
		if err != nil {
			return err
		}
		if err := f.answer(conn, asked); err != nil {
			return err
		}
	}
}

func (f *freezes) answer(conn io.Writer, asked *godbus.Message) error {
	method, _ := asked.Headers[godbus.FieldMember].Value().(string)
	f.mu.Lock()
	f.hit[method]++
	answered := f.answered[method]
	f.mu.Unlock()
	reply := &godbus.Message{Type: godbus.TypeMethodReply, Headers: map[godbus.HeaderField]godbus.Variant{
		godbus.FieldReplySerial: godbus.MakeVariant(asked.Serial()), godbus.FieldSender: godbus.MakeVariant(":1.0"),
	}}
	body := func(v any) {
		reply.Headers[godbus.FieldSignature] = godbus.MakeVariant(godbus.SignatureOf(v))
		reply.Body = []any{v}
	}
	if to, _ := asked.Headers[godbus.FieldDestination].Value().(string); to == service && !answered {
		return nil
	}
	switch method {
	case "Hello":
		body(":1.7")
	case "LoadUnit", "StartUnit", "StopUnit":
		body(godbus.ObjectPath("/a"))
	case "GetAll":
		body(map[string]godbus.Variant{"ActiveState": godbus.MakeVariant("active")})
	}
	reply.Headers[godbus.FieldDestination] = godbus.MakeVariant(":1.7")
	return reply.EncodeTo(conn, binary.LittleEndian)
}

// TestFrozenSystemd: each call ends, when systemd does not answer at all and when it
// stops to answer in the middle of what a call consists of.
func TestFrozenSystemd(t *testing.T) {
	const impatient = 200 * time.Millisecond
	all := []string{"LoadUnit", "GetAll", "Subscribe", "RefUnit", "ResetFailedUnit"}
	calls := map[string]struct {
		do       func(context.Context, *Manager) error
		answered []string // until the last of them the call goes well
	}{
		"Unit": {func(ctx context.Context, m *Manager) error { _, err := m.Unit(ctx, "agent.service"); return err }, []string{"LoadUnit"}},
		"Start": {
			func(ctx context.Context, m *Manager) error { _, err := m.Start(ctx, "agent.service"); return err },
			[]string{"ResetFailedUnit", "Subscribe"},
		},
		"Stop": {func(ctx context.Context, m *Manager) error { _, err := m.Stop(ctx, "agent.service"); return err }, []string{"Subscribe"}},
		"Run": {
			func(ctx context.Context, m *Manager) error {
				_, err := m.Run(ctx, "x.service", []string{"/bin/true"}, time.Millisecond)
				return err
			},
			[]string{"Subscribe", "StartTransientUnit"},
		},
		"Follow": {func(ctx context.Context, m *Manager) error { _, err := m.Follow(ctx, "agent.service"); return err }, []string{"LoadUnit", "Subscribe", "RefUnit"}},
	}
	for name, tc := range calls {
		for n := range len(tc.answered) + 1 {
			t.Run(name+" after "+strings.Join(tc.answered[:n], " "), func(t *testing.T) {
				f := frozen(t, false, tc.answered[:n]...)
				m := New(f.address, hostfile.Dir{})
				m.patience = impatient
				endsWith(t, "no answer from systemd at "+f.address, func() error { return tc.do(t.Context(), m) })
			})
		}
		t.Run(name+", the bus is frozen, too", func(t *testing.T) {
			f := frozen(t, true)
			m := New(f.address, hostfile.Dir{})
			m.patience = impatient
			endsWith(t, "no answer from systemd at "+f.address, func() error { return tc.do(t.Context(), m) })
		})
		t.Run(name+", of a caller in a hurry", func(t *testing.T) {
			m := New(frozen(t, false, all...).address, hostfile.Dir{})
			ctx, done := context.WithTimeoutCause(t.Context(), impatient, errors.New("the caller's own deadline"))
			defer done()
			if strings.HasPrefix(name, "Unit") || strings.HasPrefix(name, "Follow") {
				m.address = frozen(t, false).address
			}
			endsWith(t, "the caller's own deadline", func() error { return tc.do(ctx, m) })
		})
	}
}

// TestSystemdFreezesWhileFollowed: no signal comes, and no connection breaks.
func TestSystemdFreezesWhileFollowed(t *testing.T) {
	g := NewWithT(t)
	f := frozen(t, false, "LoadUnit", "GetAll", "Subscribe", "RefUnit")
	m := New(f.address, hostfile.Dir{})
	m.patience, m.silence = 200*time.Millisecond, 200*time.Millisecond
	updates, err := m.Follow(t.Context(), "agent.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect((<-updates).Unit.ActiveState).To(Equal("active"))
	f.mu.Lock()
	asked := f.hit["GetAll"]
	f.mu.Unlock()
	g.Eventually(func() int { f.mu.Lock(); defer f.mu.Unlock(); return f.hit["GetAll"] }, 20*time.Second).Should(BeNumerically(">", asked), "it is asked after a silence")
	g.Consistently(updates, 300*time.Millisecond).ShouldNot(Receive(), "a systemd that answers is no news")
	f.freeze()
	var up systemd.Update
	g.Eventually(updates, 20*time.Second).Should(Receive(&up))
	g.Expect(up.Err).To(MatchError(ContainSubstring("no answer from systemd")))
	g.Eventually(updates).Should(BeClosed())
}

func (f *freezes) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = map[string]bool{}
}

// TestNoCallWaitsForAnother: while one call hangs, others of a systemd that is
// there again are answered.
func TestNoCallWaitsForAnother(t *testing.T) {
	g := NewWithT(t)
	f := frozen(t, false, "LoadUnit", "GetAll")
	m := New(f.address, hostfile.Dir{})
	ctx, done := context.WithCancel(t.Context())
	defer done()
	hanging := make(chan error, 1)
	go func() { _, err := m.Stop(ctx, "agent.service"); hanging <- err }()
	g.Eventually(func() int { f.mu.Lock(); defer f.mu.Unlock(); return f.hit["Subscribe"] }, 20*time.Second).Should(BeNumerically(">", 0))
	unit, err := m.Unit(t.Context(), "agent.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(unit.ActiveState).To(Equal("active"))
	g.Expect(hanging).NotTo(Receive())
	done()
	g.Eventually(hanging, 20*time.Second).Should(Receive(MatchError(context.Canceled)))
}

// endsWith runs f, which must come to an end with that error.
func endsWith(t *testing.T, text string, f func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(text)))
	case <-time.After(20 * time.Second):
		t.Fatal("the call hangs")
	}
}
