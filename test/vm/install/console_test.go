//go:build machine

package install_test

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"syscall"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/vm"
)

// consoleReader reads what the machine says on its serial console.
type consoleReader struct{ machine *vm.Machine }

// wait returns the groups of what matches.
func (c *consoleReader) wait(s *stand, pattern *regexp.Regexp) (found []string) {
	s.t.Helper()
	s.Eventually(func() []string {
		text, err := c.machine.Console(0)
		if err == nil {
			found = pattern.FindStringSubmatch(text)
		}
		return found
	}).WithTimeout(patience).WithPolling(time.Second).ShouldNot(BeNil(), "%s", pattern)
	return found
}

// maxBody bounds what the live system says.
const maxBody = 1 << 20

func readAll(r *http.Request) ([]byte, error) { return io.ReadAll(io.LimitReader(r.Body, maxBody)) }

// hasTable tells whether a disk has a partition table.
func (s *stand) hasTable(path string) bool {
	s.t.Helper()
	disk, err := os.Open(path)
	s.Expect(err).NotTo(HaveOccurred())
	defer disk.Close()
	magic := make([]byte, len("EFI PART"))
	_, err = disk.ReadAt(magic, 512)
	s.Expect(err).NotTo(HaveOccurred())
	return string(magic) == "EFI PART"
}

// neverWritten: nobody has written to the disk since it was made.
func (s *stand) neverWritten(n int) {
	s.t.Helper()
	var info syscall.Stat_t
	s.Expect(syscall.Stat(s.machine.DiskPath(n), &info)).To(Succeed())
	s.Expect(info.Blocks).To(BeZero(), "disk %d was never written", n)
}
