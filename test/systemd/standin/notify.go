package standin

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"strings"
	"unicode/utf8"
)

// notifySocket receives sd_notify messages of one run of a unit. Unlike
// systemd, it does not look at who sent them (NotifyAccess=all).
type notifySocket struct {
	conn *net.UnixConn
	// messages is closed when the socket is.
	messages chan notification
}

// notification is what the stand-in takes from one message.
type notification struct {
	ready, stopping bool
	status          *string
	// flushed marks the stand-in's own message, see flush.
	flushed bool
}

// flushMark is the message that the stand-in sends to itself.
const flushMark = "X_IRONFLOW_FLUSH=1"

// newNotifySocket listens on an abstract address, which leaves no file behind
// however this program ends.
func newNotifySocket() (*notifySocket, error) {
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: "@ironflow-standin/" + rand.Text()})
	if err != nil {
		return nil, err
	}
	n := &notifySocket{conn: conn, messages: make(chan notification)}
	go n.read()
	return n, nil
}

func (n *notifySocket) address() string { return n.conn.LocalAddr().String() }

func (n *notifySocket) close() {
	_ = n.conn.Close()
	for range n.messages { // let the reader go
	}
}

func (n *notifySocket) read() {
	defer close(n.messages)
	buf := make([]byte, 4096)
	for {
		size, err := n.conn.Read(buf)
		if err != nil {
			return
		}
		n.messages <- parseNotification(string(buf[:size]))
	}
}

// flush handles every message that was sent before now. A process may notify
// and end at once; systemd reads the messages first then, and so must we.
func (n *notifySocket) flush(handle func(notification)) {
	go func() {
		conn, err := net.DialUnix("unixgram", nil, n.conn.LocalAddr().(*net.UnixAddr))
		if err != nil {
			n.messages <- notification{flushed: true}
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = conn.Write([]byte(flushMark))
	}()
	for msg := range n.messages {
		if msg.flushed {
			return
		}
		handle(msg)
	}
}

// parseNotification takes a status that is not UTF-8 as an empty one, as systemd does.
func parseNotification(message string) notification {
	var out notification
	for line := range strings.SplitSeq(message, "\n") {
		key, value, _ := strings.Cut(line, "=")
		switch {
		case key == "READY" && value == "1":
			out.ready = true
		case key == "STOPPING" && value == "1":
			out.stopping = true
		case key == "STATUS":
			if !utf8.ValidString(value) {
				value = ""
			}
			out.status = &value
		case line == flushMark:
			out.flushed = true
		}
	}
	return out
}

func newInvocationID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}
