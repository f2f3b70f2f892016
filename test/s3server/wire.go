package s3server

import (
	"net"
	"sync"
	"testing"
)

// wire hands on what the two sides say, until it is told to fail.
type wire struct {
	listener net.Listener
	socket   string

	mutex sync.Mutex
	// up and down are how many bytes still pass to and from the server.
	up, down int64
	// mended is closed while bytes pass, and open while they are held back.
	mended  chan struct{}
	open    map[net.Conn]bool
	closed  chan struct{}
	running sync.WaitGroup
}

// plenty is more than any test sends.
const plenty = 1 << 60

func newWire(t testing.TB, socket string) *wire {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{listener: listener, socket: socket, open: map[net.Conn]bool{}, closed: make(chan struct{}), mended: make(chan struct{})}
	w.Mend()
	w.running.Go(w.serve)
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

// Mend lets everything pass again.
func (w *wire) Mend() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.up, w.down = plenty, plenty
	select {
	case <-w.mended:
	default:
		close(w.mended)
	}
}

// Away breaks all connections off, also new ones.
func (w *wire) Away() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.up, w.down = 0, 0
	for c := range w.open {
		_ = c.Close()
	}
}

// Hang holds everything back from now on; connections stay.
func (w *wire) Hang() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.mended = make(chan struct{})
}

// CutUploads breaks connections off when that many bytes more have gone to the server.
func (w *wire) CutUploads(after int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.up = after
}

// CutDownloads breaks connections off when that many bytes more have come from the server.
func (w *wire) CutDownloads(after int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.down = after
}

func (w *wire) close() {
	close(w.closed)
	_ = w.listener.Close()
	w.Away()
	w.running.Wait()
}

func (w *wire) serve() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := dial(w.socket)
		if err != nil { // it does not listen yet
			_ = client.Close()
			continue
		}
		w.mutex.Lock()
		w.open[client], w.open[server] = true, true
		over := w.up == 0 && w.down == 0
		w.mutex.Unlock()
		if over {
			w.end(client, server)
			continue
		}
		w.running.Go(func() { w.pass(server, client, &w.up) })
		w.running.Go(func() { w.pass(client, server, &w.down) })
	}
}

// pass hands on one direction until it ends, or may not go on.
func (w *wire) pass(to, from net.Conn, budget *int64) {
	defer w.end(to, from)
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		n, more := w.allow(n, budget)
		if _, failed := to.Write(piece[:n]); failed != nil || err != nil || !more {
			return
		}
	}
}

// allow waits until bytes may pass, and returns how many of them.
func (w *wire) allow(n int, budget *int64) (allowed int, more bool) {
	w.mutex.Lock()
	mended := w.mended
	w.mutex.Unlock()
	select {
	case <-mended:
	case <-w.closed:
		return 0, false
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if int64(n) >= *budget {
		n = int(*budget)
		*budget = 0
		return n, false
	}
	*budget -= int64(n)
	return n, true
}

func (w *wire) end(conns ...net.Conn) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(w.open, c)
	}
}
