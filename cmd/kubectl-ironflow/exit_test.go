package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// TestExitCodes: what scripts see of a process, each code of the table.
func TestExitCodes(t *testing.T) {
	s := newSite(t).rack()
	s.change("b", failed("RetryLimitReached"))
	s.change("c", inState(metal3v1.StateProvisioned))
	dir := t.TempDir()
	plugin(t, dir)
	var seen []exitCode
	for _, c := range []struct {
		args string
		code exitCode
		says string
	}{
		{"get hosts a", exitDone, ""},
		{"get", exitDone, ""},
		{"version", exitDone, ""},
		{"get hosts nobody", exitFailed, "host site/nobody is not there"},
		{"get hosts --context nowhere", exitFailed, `context "nowhere" does not exist`},
		{"nosuch", exitUsage, `unknown command "nosuch"`},
		{"get nosuch", exitUsage, `unknown command "nosuch"`},
		{"bmc nosuch", exitUsage, `unknown command "nosuch"`},
		{"get hosts --nosuch", exitUsage, "unknown flag: --nosuch"},
		{"events", exitUsage, "an argument is missing; usage: kubectl ironflow events HOST"},
		{"wait a --timeout 30", exitUsage, `--timeout is "30": write a time with its unit`},
		{"bmc log a --limit -5", exitUsage, "--limit is -5"},
		{"help nosuch", exitUsage, `unknown command "nosuch"`},
		{"get hosts --server https://127.0.0.1:1", exitFailed, "connection refused; look whether --kubeconfig and --context name the right cluster"},
		{"bmc check", exitUsage, "--filename"},
		{"wait b", exitPerson, "only a person can go on"},
		{"reboot c", exitPerson, "nothing was done"},
		{"bmc health a", exitPerson, "host a has no BMC"},
		{"wait a --timeout 200ms", exitTimeout, "not there after 200ms"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "kubectl-ironflow"), strings.Fields(c.args)...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
		out, err := cmd.CombinedOutput()
		code := exitDone
		if e, is := errors.AsType[*exec.ExitError](err); is {
			code = exitCode(e.ExitCode())
		} else {
			s.Expect(err).NotTo(HaveOccurred(), c.args)
		}
		s.Expect(code).To(Equal(c.code), "%s: %s", c.args, out)
		s.Expect(string(out)).To(And(ContainSubstring(c.says), Not(ContainSubstring("UnhandledError"))), c.args)
		seen = append(seen, code)
	}
	for _, row := range exitCodes {
		if row.code != exitInterrupted {
			s.Expect(slices.Contains(seen, row.code)).To(BeTrue(), "no case ends with %d", row.code)
		}
	}
}

// TestAnInterruptedWaitSaysSo: it is not done.
func TestAnInterruptedWaitSaysSo(t *testing.T) {
	s := newSite(t).rack()
	dir := t.TempDir()
	plugin(t, dir)
	var out shared
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "kubectl-ironflow"), "wait", "a", "c")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	cmd.Stdout, cmd.Stderr = &out, &out
	s.change("c", isReady)
	s.Expect(cmd.Start()).To(Succeed())
	s.Eventually(out.String, "30s").Should(ContainSubstring("host c: ready"))
	s.Expect(cmd.Process.Signal(os.Interrupt)).To(Succeed())
	e, is := errors.AsType[*exec.ExitError](cmd.Wait())
	s.Expect(is).To(BeTrue())
	s.Expect(exitCode(e.ExitCode())).To(Equal(exitInterrupted))
}

// TestThePageHasTheExitCodes: the table of the code.
func TestThePageHasTheExitCodes(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| exit code | means |\n|---|---|\n")
	for _, row := range exitCodes {
		fmt.Fprintf(&rows, "| %d | %s |\n", row.code, row.means)
	}
	pages.Generated{Root: "../..", Page: "kubectl.md", Package: "./cmd/kubectl-ironflow", Update: *update}.Hold(t, "exit codes", rows.String())
}
