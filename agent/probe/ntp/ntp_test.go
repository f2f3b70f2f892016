package ntp_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/ntp"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
)

func synchronize(ctx context.Context, root, request string) steps.Result {
	env := probe.Env{Dir: hostfile.Dir{Root: root}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	return ntp.Check.Runner(env).Run(ctx, []string{request})
}

// shortRoot is a root directory with a path that is short enough for sockets, and with chrony's folder.
func shortRoot(t *testing.T) (root, folder string) {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "ntp") //nolint:usetesting // the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	folder = filepath.Join(root, "run/chrony")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return root, folder
}

func TestWithoutChrony(t *testing.T) {
	g := NewWithT(t)
	root, _ := shortRoot(t)
	result := synchronize(t.Context(), root, `{"ntp_source":"192.0.2.1"}`)
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Output).To(BeEmpty())
	g.Expect(result.Error).To(ContainSubstring("connect to chronyd"))
	entries, err := os.ReadDir(filepath.Join(root, "run/chrony"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(BeEmpty(), "no socket stays behind")
}

// liar is a chronyd whose replies are made from the requests.
func liar(t *testing.T, folder string, answer func(request []byte) [][]byte) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "chronyd.sock"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		packet := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUnix(packet)
			if err != nil {
				return
			}
			for _, a := range answer(packet[:n]) {
				_, _ = conn.WriteToUnix(a, from)
			}
		}
	}()
}

// head is a good reply's head to the request.
func head(request []byte, kind uint16) []byte {
	out := make([]byte, 28)
	out[0], out[1] = 6, 2
	copy(out[4:6], request[4:6])
	binary.BigEndian.PutUint16(out[6:], kind)
	copy(out[16:20], request[8:12])
	return out
}

func TestAChronyThatLies(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(request []byte) [][]byte
		want   string
	}{
		"too many sources": {func(r []byte) [][]byte { return [][]byte{append(head(r, 2), 0xff, 0xff, 0xff, 0xff)} }, "more than 1000"},
		"cut off":          {func(r []byte) [][]byte { return [][]byte{head(r, 2)} }, "cut off"},
		"no packet":        {func([]byte) [][]byte { return [][]byte{{6}} }, "no reply"},
		"not allowed": {func(r []byte) [][]byte {
			out := head(r, 1)
			out[9] = 2
			return [][]byte{out}
		}, "not authorised"},
		"source cut off": {func(r []byte) [][]byte {
			if r[5] == 14 {
				return [][]byte{append(head(r, 2), 0, 0, 0, 1)}
			}
			return [][]byte{append(head(r, 3), 192, 0, 2, 1)}
		}, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root, folder := shortRoot(t)
			liar(t, folder, tc.answer)
			result := synchronize(t.Context(), root, `{"ntp_source":""}`)
			g.Expect(result.Exit).To(BeEquivalentTo(-1))
			g.Expect(result.Error).To(And(HavePrefix("list the time sources: "), ContainSubstring(tc.want)))
		})
	}
}

// The states are those of chronyc's marks, peers and clocks of the host are
// left out, and late replies to other requests are passed over.
func TestStates(t *testing.T) {
	g := NewWithT(t)
	root, folder := shortRoot(t)
	states := []byte{0, 1, 2, 3, 4, 5, 9, 0, 0, 0}
	modes := []byte{0, 0, 0, 0, 0, 0, 0, 1, 2, 0}
	liar(t, folder, func(r []byte) [][]byte {
		late := head(r, 2)
		late[16]++
		if r[5] == 14 {
			return [][]byte{late, append(head(r, 2), 0, 0, 0, byte(len(states)))}
		}
		i := r[23]
		source := make([]byte, 52)
		copy(source, []byte{127, 9, 9, i})
		source[17] = 1
		if int(i) == len(states)-1 {
			source[17] = 3 // a name without an address yet
		}
		source[25], source[27] = states[i], modes[i]
		return [][]byte{late, append(head(r, 3), source...)}
	})
	result := synchronize(t.Context(), root, `{"ntp_source":""}`)
	g.Expect(result.Error).To(BeEmpty())
	g.Expect(result.Output).To(MatchJSON(`{"ntp_sources":[
		{"source_name":"127.9.9.0","source_state":"synced"},
		{"source_name":"127.9.9.1","source_state":"unreachable"},
		{"source_name":"127.9.9.2","source_state":"error"},
		{"source_name":"127.9.9.3","source_state":"variable"},
		{"source_name":"127.9.9.4","source_state":"combined"},
		{"source_name":"127.9.9.5","source_state":"not_combined"},
		{"source_name":"127.9.9.6","source_state":"error"}]}`))
}

func TestASilentChrony(t *testing.T) {
	g := NewWithT(t)
	root, folder := shortRoot(t)
	ctx, cancel := context.WithCancel(t.Context())
	liar(t, folder, func([]byte) [][]byte { cancel(); return nil })
	result := synchronize(ctx, root, `{"ntp_source":""}`)
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Error).To(ContainSubstring("context canceled"), "a stopped step does not wait for chronyd")
}
