package ntp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/netns"
)

func TestMain(m *testing.M) {
	netns.Main(m, map[string]netns.Program{
		"synchronize": func(ctx context.Context, args []string, stdout io.Writer) error {
			return json.NewEncoder(stdout).Encode(synchronize(ctx, args[0], args[1]))
		},
	})
}

// What the step says is what Debian's chronyc says.
func TestARealChronyd(t *testing.T) {
	chronyc := needs.Program(t, "chronyc", "chrony")
	machine := netns.Topologies["ntp"].Build(t).Host("machine")
	g := NewWithT(t)
	root := machine.Root
	control := filepath.Join(root, "run/chrony/chronyd.sock")

	run := func(request string) (result steps.Result) {
		t.Helper()
		out, err := machine.Run(netns.Options{}, "synchronize", root, request)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(json.Unmarshal([]byte(out), &result)).To(Succeed())
		g.Expect(result.Error).To(BeEmpty())
		return result
	}
	// asked is what chronyc says of all sources: lines of values separated by commas.
	asked := func() []string {
		out, err := exec.CommandContext(t.Context(), chronyc, "-h", control, "-n", "-c", "sources", "-a").Output()
		g.Expect(err).NotTo(HaveOccurred())
		return strings.Fields(string(out))
	}

	g.Expect(run(`{"ntp_source":""}`).Output).To(MatchJSON(`{"ntp_sources":[]}`))
	run(`{"ntp_source":"ntp1.example,192.0.2.2,192.0.2.99,nowhere.example"}`)

	// chronyc's marks in the protocol's words.
	words := map[string]string{"*": "synced", "+": "combined", "-": "not_combined", "?": "unreachable", "x": "error", "~": "variable"}
	names := map[string]string{"192.0.2.1": "ntp1.example", "192.0.2.2": "ntp2.example", "192.0.2.99": "192.0.2.99"}
	g.Eventually(func(g Gomega) {
		before := asked()
		output := run(`{"ntp_source":""}`).Output
		g.Expect(asked()).To(Or(Equal(before), HaveLen(4)))
		var want []string
		for _, line := range before {
			field := strings.Split(line, ",")
			if name, known := names[field[2]]; known {
				want = append(want, fmt.Sprintf(`{"source_name":%q,"source_state":%q}`, name, words[field[1]]))
			}
		}
		g.Expect(output).To(MatchJSON(`{"ntp_sources":[` + strings.Join(want, ",") + `]}`))
		g.Expect(output).To(And(
			ContainSubstring(`"synced"`), ContainSubstring("ntp1.example"), ContainSubstring("ntp2.example"),
			ContainSubstring(`{"source_name":"192.0.2.99","source_state":"unreachable"}`),
		))
	}).WithTimeout(2 * time.Minute).WithPolling(time.Second).Should(Succeed())

	before := asked()
	g.Expect(before).To(HaveLen(4), "nowhere.example waits for its address")
	run(`{"ntp_source":"ntp1.example,ntp2.example,192.0.2.1,192.0.2.2,192.0.2.99,nowhere.example,NTP1.example."}`)
	g.Expect(asked()).To(HaveLen(4), "known by the same text or by an address")
	left, err := filepath.Glob(filepath.Join(root, "run/chrony/ironflow.*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty(), "no socket stays behind")
}
