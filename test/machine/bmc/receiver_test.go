package bmc_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/bmc"
)

type taker struct {
	changes chan emulator.SystemChange
	err     error
}

func (t taker) Take(change emulator.SystemChange) error { t.changes <- change; return t.err }

func TestReceiver(t *testing.T) {
	const body = `{"uuid": "u-1", "name": "host-0", "sequence": 7, "change": "power", "reset": "ForceOn", "power_state": "On",
		"media": {"Cd": {"image": "http://127.0.0.1:1/x.iso", "inserted": true}}, "added_later": 1}`
	for _, c := range []struct {
		name, method, body, credentials string
		refuses                         error
		code                            int
		text                            string
	}{
		{"taken", http.MethodPut, body, "", nil, 204, ""},
		{"refused by the machine", http.MethodPut, body, "", errors.New("the machine is going down"), 503, "the machine is going down"},
		{"unknown machine", http.MethodPut, `{"uuid": "u-2"}`, "", nil, 404, "no machine has the UUID u-2"},
		{"not JSON", http.MethodPut, `{`, "", nil, 400, "not a system change"},
		{"not a PUT", http.MethodPost, body, "", nil, 405, "come as PUT"},
		{"wrong password", http.MethodPut, body, "emulator:nonsense", nil, 401, "wrong credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			machine := taker{make(chan emulator.SystemChange, 1), c.refuses}
			receiver, err := bmc.Listen(nil, func(uuid string) (bmc.Taker, bool) { return machine, uuid == "u-1" }, slog.New(slog.DiscardHandler))
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = receiver.Close() })

			req, err := http.NewRequestWithContext(t.Context(), c.method, receiver.URL(), strings.NewReader(c.body))
			g.Expect(err).NotTo(HaveOccurred())
			name, password := receiver.Credentials()
			if c.credentials != "" {
				name, password, _ = strings.Cut(c.credentials, ":")
			}
			req.SetBasicAuth(name, password)
			answer, err := http.DefaultClient.Do(req)
			g.Expect(err).NotTo(HaveOccurred())
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.StatusCode).To(Equal(c.code))
			g.Expect(string(text)).To(ContainSubstring(c.text))
			if c.code == 204 {
				g.Expect(<-machine.changes).To(And(HaveField("Reset", emulator.ResetForceOn), HaveField("Media", HaveKey("Cd"))))
			}
		})
	}
}

// slow is a machine whose shutdown takes its time.
type slow struct{ taker }

func (slow) Later(change emulator.SystemChange) bool {
	return change.Reset == emulator.ResetGracefulShutdown
}

// TestSlow shows that a change which has not come true yet is told as such.
func TestSlow(t *testing.T) {
	g := NewWithT(t)
	machine := slow{taker{make(chan emulator.SystemChange, 2), nil}}
	receiver, err := bmc.Listen(nil, func(string) (bmc.Taker, bool) { return machine, true }, slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = receiver.Close() })
	for reset, code := range map[emulator.Reset]int{emulator.ResetGracefulShutdown: http.StatusAccepted, emulator.ResetForceOff: http.StatusNoContent} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, receiver.URL(), strings.NewReader(`{"uuid": "u-1", "change": "power", "reset": "`+string(reset)+`"}`))
		g.Expect(err).NotTo(HaveOccurred())
		req.SetBasicAuth(receiver.Credentials())
		answer, err := http.DefaultClient.Do(req)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		g.Expect(answer.StatusCode).To(Equal(code), string(reset))
	}
}
