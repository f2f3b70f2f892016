package chrony

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// MaxSources bounds what is listed.
const MaxSources = 1000

// patience is how long one request may wait for its reply; chronyd answers at once.
const patience = 10 * time.Second

// Client is a connection to chronyd.
type Client struct {
	conn *net.UnixConn
	own  string
	// sequence is the number of the last request.
	sequence uint32
}

// clients counts the clients of this process, for the names of their sockets.
var clients atomic.Uint32

// Dial connects to the socket of a chronyd. Its folder gets a socket for the
// replies, until [Client.Close].
func Dial(socket string) (*Client, error) {
	own := filepath.Join(filepath.Dir(socket), fmt.Sprintf("ironflow.%d.%d.sock", os.Getpid(), clients.Add(1)))
	if err := os.Remove(own); err != nil && !errors.Is(err, os.ErrNotExist) { // of a killed process with the same id
		return nil, err
	}
	conn, err := net.DialUnix("unixgram", &net.UnixAddr{Name: own, Net: "unixgram"}, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		_ = os.Remove(own)
		return nil, fmt.Errorf("connect to chronyd: %w", err)
	}
	// chronyd has given its root rights away and must still be able to answer.
	if err := os.Chmod(own, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to chronyd: %w", err), conn.Close())
	}
	return &Client{conn: conn, own: own}, nil
}

// Close ends the connection and removes its socket.
func (c *Client) Close() error {
	return errors.Join(c.conn.Close(), os.Remove(c.own))
}

// Sources lists what chronyd takes its time from.
func (c *Client) Sources(ctx context.Context) ([]Source, error) {
	data, err := c.call(ctx, commandSources, nil, replySources)
	if err != nil {
		return nil, fmt.Errorf("count the sources: %w", err)
	}
	count, err := parseCount(data)
	if err != nil {
		return nil, err
	}
	if count > MaxSources {
		return nil, fmt.Errorf("chronyd has %d sources, more than %d", count, MaxSources)
	}
	sources := make([]Source, 0, count)
	for i := range count {
		data, err := c.call(ctx, commandSourceData, binary.BigEndian.AppendUint32(nil, uint32(i)), replySourceData)
		if errors.Is(err, ErrNoSuchSource) { // one has gone meanwhile
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read source %d: %w", i, err)
		}
		source, err := parseSource(data)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// Name is what the source was called when it was configured or added.
func (c *Client) Name(ctx context.Context, s Source) (string, error) {
	data, err := c.call(ctx, commandSourceName, s.wire[:], replySourceName)
	if err != nil {
		return "", fmt.Errorf("name of source %s: %w", s.Address, err)
	}
	return parseName(data)
}

// AddServer adds a server with iburst. The error is [ErrAlreadyKnown] for an
// address that chronyd has already.
func (c *Client) AddServer(ctx context.Context, name string) error {
	data, err := addServer(name)
	if err != nil {
		return err
	}
	if _, err := c.call(ctx, commandAddSource, data, replyNull); err != nil {
		return fmt.Errorf("add source %s: %w", name, err)
	}
	return nil
}

// call sends one request and waits for its reply.
func (c *Client) call(ctx context.Context, command uint16, data []byte, kind uint16) ([]byte, error) {
	deadline := time.Now().Add(patience)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Now()) })
	defer stop()
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.sequence++
	if _, err := c.conn.Write(request(command, c.sequence, data)); err != nil {
		return nil, err
	}
	packet := make([]byte, maxReply)
	for {
		n, err := c.conn.Read(packet)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, err
		}
		answer, err := reply(packet[:n], command, kind, c.sequence)
		if errors.Is(err, errForeign) { // late, of a request that was given up
			continue
		}
		return answer, err
	}
}
