package pause_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/test/k8snode/pause"
)

// part is the environment variable by which this program is one of the others
// of the test.
const part = "PAUSE_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "pause":
		// Orphans below a subreaper come to it, as they do to process 1.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			panic(err)
		}
		orphan()
		os.Exit(pause.Main())
	default:
		os.Exit(m.Run())
	}
}

// orphan starts a process whose parent has ended: it says its process id, and
// ends when standard input does.
func orphan() {
	cmd := exec.Command("sh", "-c", `exec 3<&0; sh -c 'echo $$; exec cat' <&3 3<&- &`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}

func TestAnOrphanIsTakenInAndASignalEndsIt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), part+"=pause")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child := "/proc/" + strings.TrimSpace(line)
	if _, err := os.Stat(child); err != nil {
		t.Fatalf("the orphan does not run: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	// A process that has ended and that nobody took in stays a zombie in /proc.
	for t.Context().Err() == nil {
		if _, err := os.Stat(child); os.IsNotExist(err) {
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("pause did not end well: %v", err)
	}
}
