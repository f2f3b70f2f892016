package logging

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/journal"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

func TestTextFileAndMemory(t *testing.T) {
	for program, path := range map[string]string{
		"agent": "/var/log/agent_registration.log", "next_step_runner": "/var/log/agent_next_step_runner.log",
		"inventory": "/var/log/inventory.log", "free_addresses": "/var/log/free_addresses.log",
		"disk_speed_check": "/var/log/disk-speed-check.log", "logs_sender": "/var/log/logs-sender.log",
	} {
		t.Run(program, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			log, ring, closeLog := Setup(Options{Text: true, Journal: true, Name: program, Dir: dir})
			log.Info("collected", "disks", 3)
			closeLog()
			file, err := os.ReadFile(dir.Path(path))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(file)).To(ContainSubstring("msg=collected disks=3"))
			g.Expect(ring.Bytes()).To(Equal(file))
		})
	}
}

func TestAFileThatCannotBeWrittenDoesNoHarm(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	g.Expect(os.WriteFile(dir.Path("/var"), nil, 0o600)).To(Succeed())
	log, ring, closeLog := Setup(Options{Text: true, Name: "agent", Dir: dir})
	log.Info("registered")
	closeLog()
	g.Expect(string(ring.Bytes())).To(And(ContainSubstring("no log file"), ContainSubstring("msg=registered")))
}

func TestTheTextFileIsBounded(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "agent.log")
	file, err := openFile(path, 1000)
	g.Expect(err).NotTo(HaveOccurred())
	line := []byte(strings.Repeat("x", 99) + "\n")
	for range 35 {
		_, err := file.Write(line)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(file.Close()).To(Succeed())
	now, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	before, err := os.ReadFile(path + ".1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]int{len(now), len(before)}).To(Equal([]int{500, 1000}))
	again, err := openFile(path, 1000)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.size).To(Equal(int64(500)), "a restarted agent goes on with its file")
	g.Expect(again.Close()).To(Succeed())
}

func TestFieldsOfTheJournal(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		want    map[string]string
	}{
		"agent":     {Options{Name: "agent"}, map[string]string{"TAG": "agent", "SYSLOG_IDENTIFIER": "agent"}},
		"inventory": {Options{Name: "inventory"}, map[string]string{"TAG": "agent", "SYSLOG_IDENTIFIER": "inventory"}},
		"installer": {Options{Name: "installer"}, map[string]string{"TAG": "installer", "SYSLOG_IDENTIFIER": "installer"}},
		"dry run":   {Options{Name: "agent", DryID: "host-7"}, map[string]string{"TAG": "agent", "SYSLOG_IDENTIFIER": "agent", "DRY_AGENT_ID": "host-7"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var lines []string
			log := slog.New(newJournal(tc.options, func(message string, p journal.Priority, fields map[string]string) error {
				lines = append(lines, fmt.Sprint(p, " ", message))
				g.Expect(fields).To(Equal(tc.want))
				return nil
			}))
			log.With("host", "h").WithGroup("disk").Warn("cannot be read", "name", "sda")
			log.Debug("not for the journal")
			g.Expect(lines).To(Equal([]string{`4 cannot be read host="h" disk.name="sda"`}))
		})
	}
}

func TestRingKeepsTheNewestWholeLines(t *testing.T) {
	g := NewWithT(t)
	var ring Ring
	for i := range 40_000 {
		fmt.Fprintf(&ring, "line %d of some length that fills the memory\n", i)
	}
	kept := ring.Bytes()
	g.Expect(len(kept)).To(And(BeNumerically(">", 400<<10), BeNumerically("<", 1200<<10)))
	g.Expect(bytes.HasPrefix(kept, []byte("line "))).To(BeTrue())
	g.Expect(bytes.HasSuffix(kept, []byte("line 39999 of some length that fills the memory\n"))).To(BeTrue())
}
