package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/wire"
)

// poller polls over one connection for any machine. It does without what a client's library takes
// for each call, and only looks whether an answer is one: the processors are the hub's.
type poller struct {
	conn   net.Conn
	in     *bufio.Reader
	host   string
	answer bytes.Buffer
}

// dial connects a poller.
func (l *load) dial(ctx context.Context) (*poller, error) {
	u, err := url.Parse(l.URL)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{RootCAs: l.roots, ServerName: u.Hostname(), MinVersion: tls.VersionTLS12})
	}
	return &poller{conn: conn, in: bufio.NewReader(conn), host: u.Host}, nil
}

func (p *poller) close() { _ = p.conn.Close() }

// poll asks for a machine's instructions.
func (p *poller) poll(a machine, token string) error {
	path := fmt.Sprintf("%s/v2/infra-envs/%s/hosts/%s/instructions", rest.Base, a.group.InfraEnv, hostID(a.number))
	if _, err := fmt.Fprintf(p.conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n\r\n", path, p.host, wire.HeaderAgentToken, token); err != nil {
		return err
	}
	answer, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	p.answer.Reset()
	if _, err := p.answer.ReadFrom(answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !bytes.Contains(p.answer.Bytes(), []byte(`"next_instruction_seconds"`)) {
		return fmt.Errorf("a poll is answered with %s: %.300s", answer.Status, p.answer.Bytes())
	}
	return nil
}
