package guard

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// family is a program that starts children in every way that escapes a simple
// kill: in the background, in a session of its own, and orphaned twice over.
const family = `
sleep 1000 &
setsid sleep 1000 &
(setsid sh -c 'sleep 1000 & sleep 1000' &) &
trap "" TERM
echo up
sleep 1000
`

// familySize counts the processes of family: the shell, its own four sleeps
// and the inner shell with its one (the last sleep replaces no shell).
const familySize = 5

// TestMain plays the caller that gets killed: with the variable set it starts
// the family under guard, says so, and waits for its end.
func TestMain(m *testing.M) {
	if out := os.Getenv("GUARD_TEST_CALLER"); out != "" {
		file, err := os.Create(out)
		if err != nil {
			panic(err)
		}
		p, err := Start(Command{Path: "sh", Args: []string{"-c", family}, Output: file})
		if err != nil {
			panic(err)
		}
		fmt.Println(p.PID())
		<-p.Done()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestNothingOutlivesTheCaller(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSEGV} {
		t.Run(signal.String(), func(t *testing.T) {
			g := NewWithT(t)
			out := filepath.Join(t.TempDir(), "out")
			caller := exec.Command(self)
			caller.Env = append(os.Environ(), "GUARD_TEST_CALLER="+out)
			stdout, err := caller.StdoutPipe()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(caller.Start()).To(Succeed())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred())
			guardian, err := strconv.Atoi(strings.TrimSpace(line))
			g.Expect(err).NotTo(HaveOccurred())

			g.Eventually(func() int { return len(Descendants(guardian)) }, "10s", "10ms").Should(BeNumerically(">=", familySize))
			pids := append(Descendants(guardian), guardian)

			g.Expect(caller.Process.Signal(signal)).To(Succeed())
			_ = caller.Wait()
			g.Eventually(func() []int { return alive(pids) }, "10s", "10ms").Should(BeEmpty())
		})
	}
}

func TestProcess(t *testing.T) {
	tests := []struct {
		name   string
		script string
		act    func(t *testing.T, p *Process)
		want   string
	}{
		{name: "success", script: "exit 0"},
		{name: "exit status", script: "exit 7", want: "exit status 7"},
		{name: "own signal", script: "kill -SEGV $$", want: "killed by segmentation fault"},
		{
			name: "asked to stop", script: "trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done",
			act:  func(t *testing.T, p *Process) { p.Stop(t.Context(), time.Minute) },
			want: "exit status 3",
		},
		{
			name: "does not listen", script: family,
			act:  func(t *testing.T, p *Process) { p.Stop(t.Context(), 10*time.Millisecond) },
			want: "killed by killed",
		},
		{
			name: "killed", script: family,
			act:  func(_ *testing.T, p *Process) { p.Kill() },
			want: "killed by killed",
		},
		{name: "leaves orphans behind", script: "setsid sleep 1000 & echo up; exit 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			out := filepath.Join(t.TempDir(), "out")
			file, err := os.Create(out)
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = file.Close() })
			p, err := Start(Command{Path: "sh", Args: []string{"-c", test.script}, Output: file})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(p.Kill)

			if test.act != nil {
				g.Eventually(func() ([]byte, error) { return os.ReadFile(out) }, "10s", "5ms").Should(ContainSubstring("up"))
				test.act(t, p)
			}

			g.Eventually(p.Done(), "10s").Should(BeClosed())
			if test.want == "" {
				g.Expect(p.Err()).NotTo(HaveOccurred())
			} else {
				g.Expect(p.Err()).To(MatchError(ContainSubstring(test.want)))
			}
			g.Expect(Descendants(p.PID())).To(BeEmpty())
			g.Expect(alive([]int{p.PID()})).To(BeEmpty())
		})
	}
}

func TestStart(t *testing.T) {
	t.Run("unknown program", func(t *testing.T) {
		_, err := Start(Command{Path: "no-such-program-anywhere"})
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(`start "no-such-program-anywhere"`)))
	})
	t.Run("directory, environment and arguments arrive unchanged", func(t *testing.T) {
		g := NewWithT(t)
		dir := t.TempDir()
		file, err := os.Create(filepath.Join(dir, "out"))
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = file.Close() })
		p, err := Start(Command{
			Path: "sh", Args: []string{"-c", `pwd; echo "$1|$FLAVOUR|$` + marker + `|$2"`, "sh", `a "b" $c`, "grün\n"},
			Dir: dir, Env: []string{"FLAVOUR=salt", "PATH=" + os.Getenv("PATH")}, Output: file,
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Eventually(p.Done(), "10s").Should(BeClosed())
		text, err := os.ReadFile(file.Name())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).To(Equal(dir + "\n" + `a "b" $c|salt||grün` + "\n\n"))
	})
}

// alive filters the processes that still run.
func alive(pids []int) []int {
	var found []int
	for _, pid := range pids {
		if parent, state := parentOf(pid); parent != 0 && state != 'Z' {
			found = append(found, pid)
		}
	}
	return found
}
