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
}

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

// parseNotification ignores a status that is not UTF-8, as systemd does.
func parseNotification(message string) notification {
	var out notification
	for line := range strings.SplitSeq(message, "\n") {
		key, value, _ := strings.Cut(line, "=")
		switch {
		case key == "READY" && value == "1":
			out.ready = true
		case key == "STOPPING" && value == "1":
			out.stopping = true
		case key == "STATUS" && utf8.ValidString(value):
			out.status = &value
		}
	}
	return out
}

func newInvocationID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}
