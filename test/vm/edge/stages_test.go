//go:build machine

package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
	"github.com/ironflow/ironflow/test/vm/node"
)

// edge is the site and its host.
type edge struct {
	*WithT
	*testing.T
	// dir is the folder of the image's input and output, bin that of the programs, base the
	// live ISO that the image is made over.
	dir, bin, base string
	network        *lan.Network
	site           *node.Site
	machine        *vm.Machine
	// waiting is who waits for the end from outside.
	waiting *process
	begun   time.Time
	// stages are those that were reached.
	stages []string
}

// reached tells a stage, and when.
func (e *edge) reached(stage string) {
	e.stages = append(e.stages, fmt.Sprintf("%s after %s", stage, time.Since(e.begun).Round(time.Second)))
	fmt.Println("reached:", e.stages[len(e.stages)-1])
}

// said logs what was seen meanwhile.
func (e *edge) said(format string, args ...any) {
	e.Logf("after %s: %s", time.Since(e.begun).Round(time.Second), fmt.Sprintf(format, args...))
}

// maxTold bounds what is told of a run that has failed.
const maxTold = 60 << 10

// tellEnd tells how far a run came that has failed, and what the machine said.
func (e *edge) tellEnd() {
	if !e.Failed() {
		return
	}
	e.Log("reached, in this order:\n  " + strings.Join(e.stages, "\n  "))
	if e.machine != nil {
		console, _ := e.machine.Console(0) // the failure is told anyhow
		journal := e.journal()
		e.Log("end of the console:\n" + console[max(0, len(console)-maxTold):] + "\nend of the journal:\n" + journal[max(0, len(journal)-maxTold):])
	}
	if e.waiting != nil {
		e.Log("who waits says:\n" + e.waiting.said.String())
	}
	e.Log(e.story())
}

// says waits until the machine has said it on its console, or in its live system's journal,
// which goes to the second one.
func (e *edge) says(text string) {
	e.Helper()
	e.Eventually(func() bool {
		console, err := e.machine.Console(0)
		e.Expect(err).NotTo(HaveOccurred())
		return strings.Contains(console, text) || strings.Contains(e.journal(), text)
	}).WithTimeout(patience).WithPolling(look).Should(BeTrue(), "nobody says %q", text)
}

// journal is that of all systems that the machine has started.
func (e *edge) journal() string {
	raw, err := os.ReadFile(e.machine.JournalLog())
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// events are the kinds of what has happened to the machine.
func (e *edge) events() (all []vm.EventKind) {
	for _, event := range e.machine.Events() {
		all = append(all, event.Kind)
	}
	return all
}

// hasTable tells whether the machine's disk has a partition table.
func (e *edge) hasTable() bool {
	e.Helper()
	disk, err := os.Open(e.machine.DiskPath(0))
	e.Expect(err).NotTo(HaveOccurred())
	defer disk.Close()
	magic := make([]byte, len("EFI PART"))
	_, err = disk.ReadAt(magic, 512)
	e.Expect(err).NotTo(HaveOccurred())
	return string(magic) == "EFI PART"
}

// serve serves a file of the folder to the machine's drive, which QEMU reads from this computer.
func (e *edge) serve(name string) string {
	e.Helper()
	files := httptest.NewServer(http.FileServer(http.Dir(e.dir)))
	e.Cleanup(files.Close)
	return files.URL + "/" + name
}

// ask asks the hub on the machine as somebody who waits for the end.
func (e *edge) ask(path string, out any) error {
	token, err := os.ReadFile(filepath.Join(e.dir, "auth", "watcher-token"))
	if err != nil {
		return err
	}
	url := "http://" + netip.AddrPortFrom(address, 8090).String() + "/api/assisted-install/v2" + path
	r, err := http.NewRequestWithContext(e.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Watcher-Authorization", strings.TrimSpace(string(token)))
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, answer.Status, raw)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// cluster is the only one, with its hosts.
func (e *edge) cluster() (wire.Cluster, error) {
	var all []wire.Cluster
	if err := e.ask("/clusters?with_hosts=true", &all); err != nil {
		return wire.Cluster{}, err
	}
	if len(all) != 1 {
		return wire.Cluster{}, fmt.Errorf("the hub has %d clusters", len(all))
	}
	return all[0], nil
}

// story is what the hub says, for a run that has failed.
func (e *edge) story() string {
	c, err := e.cluster()
	if err != nil {
		return "the hub does not answer: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintln(&b, "cluster:", c.Status, c.StatusInfo, c.ValidationsInfo)
	for _, h := range c.Hosts {
		fmt.Fprintln(&b, "host:", h.Status, h.StatusInfo, h.ValidationsInfo)
	}
	var events wire.EventList
	if err := e.ask("/events", &events); err != nil {
		return b.String() + err.Error()
	}
	for _, event := range events {
		fmt.Fprintln(&b, event.EventTime, event.Severity, event.Message)
	}
	return b.String()
}

// process is a program of ours that runs beside the machine.
type process struct {
	command *exec.Cmd
	said    *words
	ended   chan struct{}
}

// words is what a program has said so far.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (w *words) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

// String is all of it.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (p *process) code() int { return p.command.ProcessState.ExitCode() }

// start starts the program ironflow as shipped.
func (e *edge) start(args ...string) *process {
	e.Helper()
	p := &process{command: exec.Command(filepath.Join(e.bin, "ironflow"), args...), said: &words{}, ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.said, p.said
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	e.Expect(p.command.Start()).To(Succeed())
	go func() {
		_ = p.command.Wait() // its code says it
		close(p.ended)
	}()
	e.Cleanup(func() {
		_ = p.command.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}
