package images

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// TestWhoIsNotAsked: no address that is another machine for a BMC, under any name.
func TestWhoIsNotAsked(t *testing.T) {
	for address, asked := range map[string]bool{
		"192.0.2.9:80": true, "10.0.0.1:443": true, "[2001:db8::1]:443": true, "[fd00::1]:80": true,
		"127.0.0.1:80": false, "127.8.8.8:80": false, "[::1]:80": false, "[::ffff:127.0.0.1]:80": false,
		"169.254.169.254:80": false, "[fe80::1%eth0]:80": false, "0.0.0.0:80": false, "[::]:80": false, "224.0.0.1:80": false, "no address": false,
	} {
		t.Run(address, func(t *testing.T) {
			NewWithT(t).Expect(othersOnly("tcp", address, nil) == nil).To(Equal(asked))
		})
	}
}

// TestNothingOfThisMachineIsAsked: the rule holds where the connection is made, so that
// a name does not help.
func TestNothingOfThisMachineIsAsked(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Length", "7")
	}))
	t.Cleanup(server.Close)
	byName := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	g := NewWithT(t)
	g.Expect(Sizes(t.Context(), Client(), []string{server.URL, byName})).To(BeEmpty())
	g.Expect(asked.Load()).To(BeZero())
}

// TestHostileServers: whatever one answers, to HEAD, or to GET after it has refused HEAD, a
// size comes of it at once, or none.
func TestHostileServers(t *testing.T) {
	forever := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, text); err != nil {
					return
				}
			}
		}
	}
	const ok, part = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 206 Partial Content\r\n"
	for name, c := range map[string]struct {
		answer string
		then   func(net.Conn)
		size   int64
		// byGET is the size where it is another one.
		byGET *int64
	}{
		"an image":                   {answer: ok + "Content-Length: 7\r\n\r\n", size: 7},
		"a body that never ends":     {answer: ok + "Content-Length: 7\r\n\r\n", then: forever("0123456789abcdef"), size: 7},
		"a header that never ends":   {answer: ok, then: forever("X-Y: " + strings.Repeat("z", 1000) + "\r\n")},
		"one line that never ends":   {answer: ok, then: forever("zzzzzzzzzzzzzzzz")},
		"hints that never end":       {then: forever("HTTP/1.1 103 Early Hints\r\nLink: " + strings.Repeat("z", 1000) + "\r\n\r\n")},
		"no length":                  {answer: ok + "\r\n"},
		"a body in chunks":           {answer: ok + "Transfer-Encoding: chunked\r\n\r\n"},
		"chunks with a length":       {answer: ok + "Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n", size: 7, byGET: new(int64(0))},
		"a length below nothing":     {answer: ok + "Content-Length: -7\r\n\r\n"},
		"a length that is no number": {answer: ok + "Content-Length: 0x7\r\n\r\n"},
		"two lengths":                {answer: ok + "Content-Length: 7\r\nContent-Length: 8\r\n\r\n"},
		"more than there are bytes":  {answer: ok + "Content-Length: 99999999999999999999\r\n\r\n"},
		"part of an image":           {answer: part + "Content-Length: 7\r\n\r\n"},
		"a part that never ends":     {answer: part + "Content-Range: bytes 0-0/7\r\n\r\n", then: forever("0123456789abcdef"), size: 7},
		"a range that never ends":    {answer: part + "Content-Range: bytes 0-0/", then: forever("9999999999999999")},
		"a packed part":              {answer: part + "Content-Encoding: gzip\r\nContent-Range: bytes 0-0/7\r\n\r\n"},
		"several parts":              {answer: part + "Content-Type: multipart/byteranges; boundary=x\r\n\r\n"},
		"no HEAD":                    {answer: "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 7\r\n\r\n"},
		"another protocol":           {answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"},
		"packed":                     {answer: ok + "Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\n"},
		"moved to a file":            {answer: "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"},
		"moved to nowhere":           {answer: "HTTP/1.1 302 Found\r\nLocation: http://%zz/\r\n\r\n"},
		"no HTTP":                    {answer: "SSH-2.0-OpenSSH_9.9\r\n"},
		"nothing":                    {},
	} {
		for _, method := range []string{http.MethodHead, http.MethodGet} {
			t.Run(name+"/"+method, func(t *testing.T) {
				g := NewWithT(t)
				server, err := net.Listen("tcp", "127.0.0.1:0")
				g.Expect(err).NotTo(HaveOccurred())
				t.Cleanup(func() { _ = server.Close() })
				go func() {
					for {
						conn, err := server.Accept()
						if err != nil {
							return
						}
						go func() {
							defer conn.Close()
							r, err := http.ReadRequest(bufio.NewReader(conn))
							if err != nil || r.Method != method {
								_, _ = io.WriteString(conn, "HTTP/1.1 405 Method Not Allowed\r\n\r\n")
								return
							}
							_, _ = io.WriteString(conn, c.answer)
							if c.then != nil {
								c.then(conn)
							}
						}()
					}
				}()
				size := c.size
				if method == http.MethodGet && c.byGET != nil {
					size = *c.byGET
				}
				anybody := connecting(func(string, string, syscall.RawConn) error { return nil })
				g.Expect(sizeOf(t.Context(), anybody, "http://user:secret@"+server.Addr().String()+"/image.iso")).To(Equal(size))
			})
		}
	}
}

// TestRedirects: some are followed, and the next server does not hear from where.
func TestRedirects(t *testing.T) {
	var referers atomic.Int64
	hops := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			referers.Add(1)
		}
		switch left := strings.TrimPrefix(r.URL.Path, "/"); left {
		case "":
			w.Header().Set("Content-Length", "7")
		case "round":
			http.Redirect(w, r, "/round?token=secret", http.StatusFound)
		default:
			http.Redirect(w, r, "/"+left[1:]+"?token=secret", http.StatusFound)
		}
	})
	plain, encrypted := httptest.NewServer(hops), httptest.NewTLSServer(nil)
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	encrypted.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) })
	careful := Client()
	careful.Transport = encrypted.Client().Transport // which may ask this machine
	g := NewWithT(t)
	got := Sizes(t.Context(), careful, []string{plain.URL + "/aaa", plain.URL + "/aaaa", plain.URL + "/round", encrypted.URL})
	g.Expect(got).To(Equal(map[string]int64{plain.URL + "/aaa": 7}))
	g.Expect(referers.Load()).To(BeZero())
}
