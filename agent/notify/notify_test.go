package notify_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/api/hostfile"
)

func recorder() (*notify.Notifier, *[]string) {
	var sent []string
	return notify.New(slog.New(slog.DiscardHandler), func(s string) error { sent = append(sent, s); return nil }, nil), &sent
}

func TestStatusSaysItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // starts at 2000-01-01 00:00:00 UTC
		g := NewWithT(t)
		n, sent := recorder()
		n.Starting("registering")
		n.Ready()
		n.Ready()
		n.Starting("registering again")
		n.Waiting("registering again")
		n.Status(hostfile.Status{Part: hostfile.PartInstalling, Stage: "Writing image to disk", Percent: 45, Text: "to /dev/sda"})
		n.Waiting(strings.Repeat("x", 5000))
		g.Expect((*sent)[:4]).To(Equal([]string{
			"STATUS=starting: registering [00:00:00]", "READY=1",
			"STATUS=waiting: registering again [00:00:00]",
			"STATUS=installing: Writing image to disk 45% (to /dev/sda) [00:00:00]",
		}))
		g.Expect((*sent)[4]).To(HaveLen(len("STATUS=waiting: ") + 400 + len(" … [00:00:00]")))
	})
}

func TestStatusIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n, sent := recorder()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go n.Run(ctx)
		n.Waiting("approve the host")
		<-time.After(11 * time.Minute)
		synctest.Wait()
		g.Expect(*sent).To(HaveLen(6))
		times := map[string]bool{}
		for _, s := range *sent {
			times[s] = true
		}
		g.Expect(times).To(HaveLen(6), "each renewal is a new text, or systemd would swallow it")
		g.Expect(notify.Renew).To(BeNumerically("<", 5*time.Minute))
	})
}

func TestTheServiceManagersSocket(t *testing.T) {
	g := NewWithT(t)
	folder, err := os.MkdirTemp("/tmp", "notify") //nolint:usetesting // the path of a socket has at most 107 bytes
	g.Expect(err).NotTo(HaveOccurred())
	defer os.RemoveAll(folder)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "s"), Net: "unixgram"})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = socket.Close() }()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(folder, "s"))
	notify.New(slog.New(slog.DiscardHandler), notify.Systemd, nil).Ready()
	packet := make([]byte, 64)
	n, err := socket.Read(packet)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(packet[:n])).To(Equal("READY=1"))
}

func TestWithoutAServiceManagerTheStatusIsStillKnown(t *testing.T) {
	g := NewWithT(t)
	n := notify.New(slog.New(slog.DiscardHandler), nil, nil)
	n.Ready()
	n.Waiting("approve the host")
	g.Expect(n.Last().Text).To(Equal("approve the host"))
	t.Setenv("NOTIFY_SOCKET", "")
	g.Expect(notify.Systemd("READY=1")).To(Succeed())
}
