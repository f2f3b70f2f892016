package qmp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/vm/qmp"
)

// qemu plays the machine's side: it answers each command with the lines of its
// name, with the command's id in place of "ID", and ends when there are none.
type qemu struct {
	conn    net.Conn
	answers map[string][]string
	asked   chan string
}

func (q qemu) serve() {
	defer q.conn.Close()
	_, _ = q.conn.Write([]byte(`{"QMP": {"version": {"qemu": {"major": 7}}, "capabilities": ["oob"]}}` + "\r\n"))
	lines := bufio.NewScanner(q.conn)
	for lines.Scan() {
		var command struct {
			Execute   string          `json:"execute"`
			Arguments json.RawMessage `json:"arguments"`
			ID        json.Number     `json:"id"`
		}
		if json.Unmarshal(lines.Bytes(), &command) != nil {
			return
		}
		q.asked <- command.Execute + " " + string(command.Arguments)
		answers, ok := q.answers[command.Execute]
		if !ok {
			return
		}
		for _, answer := range answers {
			_, _ = q.conn.Write([]byte(answer[:len(answer)-1] + `, "id": ` + command.ID.String() + "}\r\n"))
		}
	}
}

// connect returns a client of a machine that answers so.
func connect(t *testing.T, answers map[string][]string) (*qmp.Client, qemu, <-chan qmp.Event) {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "qmp")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	g.Expect(err).NotTo(HaveOccurred())
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	g.Expect(err).NotTo(HaveOccurred())
	answers["qmp_capabilities"] = []string{`{"return": {}}`}
	machine := qemu{conn: conn, answers: answers, asked: make(chan string, 10)}
	go machine.serve()
	events := make(chan qmp.Event, 10)
	client, err := qmp.Accept(t.Context(), listener, func(e qmp.Event) { events <- e })
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(client.Close)
	g.Expect(<-machine.asked).To(Equal("qmp_capabilities "))
	return client, machine, events
}

func TestCommandsAndEvents(t *testing.T) {
	g := NewWithT(t)
	client, machine, events := connect(t, map[string][]string{
		"query-status": {
			`{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}, "timestamp": {"seconds": 1700000000, "microseconds": 250000}}`,
			`{"return": {"status": "running"}}`,
		},
		"eject":           {`{"error": {"class": "GenericError", "desc": "Tray of device 'cd' is not open"}}`},
		"system_reset":    {},
		"query-unlikely":  {`{"return": []}`},
		"query-unrelated": {`{"return": {}}`},
	})

	var status struct{ Status string }
	g.Expect(client.Execute(t.Context(), "query-status", map[string]any{"a": 1}, &status)).To(Succeed())
	g.Expect(<-machine.asked).To(Equal(`query-status {"a":1}`))
	g.Expect(status.Status).To(Equal("running"))
	event := <-events
	g.Expect(event.Name).To(Equal("SHUTDOWN"))
	g.Expect(event.Time).To(BeTemporally("==", time.Unix(1700000000, 250_000_000)))
	var data struct{ Reason string }
	g.Expect(event.Decode(&data)).To(Succeed())
	g.Expect(data.Reason).To(Equal("guest-reset"))
	g.Expect(event.Decode(&[]int{})).NotTo(Succeed())

	err := client.Execute(t.Context(), "eject", nil, nil)
	g.Expect(err).To(MatchError(ContainSubstring("eject: Tray of device 'cd' is not open")))
	refused, ok := errors.AsType[*qmp.Error](err)
	g.Expect(ok).To(BeTrue())
	g.Expect(refused.Class).To(Equal("GenericError"))
	g.Expect(client.Execute(t.Context(), "query-unlikely", nil, &status)).To(MatchError(ContainSubstring("answer of QEMU's query-unlikely")))

	// A command without an answer ends with its context, one of a machine that ends with the machine.
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no patience"))
	g.Expect(client.Execute(ctx, "system_reset", nil, nil)).To(MatchError(ContainSubstring("no patience")))
	g.Expect(client.Execute(t.Context(), "quit", nil, nil)).To(MatchError(qmp.ErrClosed))
	<-client.Done()
	g.Expect(client.Execute(t.Context(), "query-status", nil, nil)).To(MatchError(qmp.ErrClosed))
}

func TestNobodyConnects(t *testing.T) {
	g := NewWithT(t)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "qmp"))
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("QEMU did not start"))
	_, err = qmp.Accept(ctx, listener, nil)
	g.Expect(err).To(MatchError(ContainSubstring("QEMU did not start")))
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"return": {}, "id": 1}`))
	f.Add([]byte(`{"event": "RESET", "data": {"guest": true}, "timestamp": {"seconds": -1, "microseconds": -1}}`))
	f.Add([]byte(`{"error": {"class": "", "desc": ""}, "id": 1}` + "\n" + `{"id": 1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		ours, theirs := net.Pipe()
		go func() {
			// The command is read, then the line is the answer; then the connection ends.
			_, _ = bufio.NewReader(theirs).ReadBytes('\n')
			_, _ = theirs.Write(append(line, '\n'))
			_ = theirs.Close()
		}()
		client, err := qmp.New(t.Context(), ours, func(qmp.Event) {})
		if err != nil {
			return
		}
		<-client.Done()
		client.Close()
	})
}
