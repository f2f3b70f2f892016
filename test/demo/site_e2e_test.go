//go:build e2e

package demo_test

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/demo"
)

// terminal is what a person reads.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

var _ io.Writer = (*terminal)(nil)

// TestASiteIsWorkedOnFromASecondTerminal types the lines that the site prints, each as it stands there: machines go from samples to installed, and back.
func TestASiteIsWorkedOnFromASecondTerminal(t *testing.T) {
	g := NewWithT(t)
	first := &terminal{}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error, 1)
	go func() {
		ended <- demo.Stay(ctx, demo.Options{Hosts: 2, BinDir: programs(t), Source: "../..", StateDir: t.TempDir(), Out: first})
	}()
	g.Eventually(func() string {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v\n%s", err, first)
		default:
		}
		return first.String()
	}).WithTimeout(15 * time.Minute).WithPolling(time.Second).Should(ContainSubstring("Logs: "))
	t.Log(first)
	lines := strings.Split(first.String(), "\n")
	printed := func(begin string) (found []string) {
		for _, line := range lines {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, begin) {
				found = append(found, line)
			}
		}
		return found
	}
	export := printed("export KUBECONFIG=")
	g.Expect(export).To(HaveLen(1))
	typed := func(line string) string {
		command := exec.CommandContext(t.Context(), "bash", "-c", export[0]+"\n"+line)
		command.WaitDelay = time.Second
		out, err := command.CombinedOutput()
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s\n%s", line, out)
		return string(out)
	}
	applied := printed("kubectl apply -f ")
	g.Expect(applied).To(HaveLen(3), "the namespace and two machines")
	for _, line := range applied {
		typed(line)
	}
	hosts := []string{"machine-0", "machine-1"}
	inState := func(state string) {
		for _, host := range hosts {
			g.Eventually(func() string {
				return typed("kubectl get bmh " + host + " -n hosts -o jsonpath='{.status.provisioning.state} {.status.errorMessage}'")
			}).WithTimeout(15*time.Minute).WithPolling(2*time.Second).Should(Equal(state+" "), host)
		}
	}
	inState("provisioned")
	g.Expect(typed(printed("kubectl ironflow describe ")[0])).To(ContainSubstring("machine-0"))
	g.Expect(printed("kubectl ironflow get hosts -n hosts -w")).To(HaveLen(1))
	g.Expect(typed("kubectl ironflow get hosts -n hosts")).To(And(ContainSubstring("machine-0  provisioned"), ContainSubstring("machine-1  ")))
	back := regexp.MustCompile(`^kubectl (patch|annotate) bmh (machine-\d)`)
	for i, line := range append(printed("kubectl patch bmh "), printed("kubectl annotate bmh ")...) {
		g.Expect(back.FindStringSubmatch(line)).To(HaveExactElements(Not(BeEmpty()), Not(BeEmpty()), hosts[i]))
		typed(line)
	}
	inState("available")
	leave()
	g.Eventually(ended).WithTimeout(5*time.Minute).Should(Receive(BeNil()), first.String())
}
