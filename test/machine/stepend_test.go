package machine

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

func TestReasonKeepsWhatMatters(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("x", 500)
	lines := []string{strings.Repeat("ü", 300), "systemd: exit-code"}
	for i := range 10 {
		lines = append(lines, "journal: "+string(rune('0'+i))+long)
	}
	text := reason(lines)
	g.Expect(len(text)).To(BeNumerically("<=", maxReason))
	first, rest, _ := strings.Cut(text, "\n")
	g.Expect(len(first)).To(BeNumerically("<=", maxFirstLine))
	g.Expect(first).To(HaveSuffix("ü…"))
	g.Expect(rest).To(And(HavePrefix("systemd: exit-code\n"), ContainSubstring("journal: 9"), Not(ContainSubstring("journal: 0"))))
}

func TestStepResult(t *testing.T) {
	for _, c := range []struct {
		name   string
		last   step.Report
		err    error
		stderr []string
		want   any
		fails  string
	}{
		{"done", step.Report{Outcome: step.Done, Result: map[string]any{"a": 1}}, nil, nil, map[string]any{"a": 1}, ""},
		{"done without a result", step.Report{Outcome: step.Done}, nil, nil, map[string]any{}, ""},
		{"says done and exits badly", step.Report{Outcome: step.Done}, errors.New("exit status 1"), nil, nil, "cannot be started"},
		{"failed", step.Report{Outcome: step.Failed, Reason: "r", Detail: []string{"d"}}, errors.New("exit status 1"), []string{"log"}, nil, "r\nd"},
		{"missing program", step.Report{}, errors.New("no such file"), nil, nil, "the program of step s cannot be started: no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := stepResult("s", c.last, c.err, c.stderr)
			if c.fails == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got).To(Equal(c.want))
				return
			}
			failure, ok := errors.AsType[*ipa.Error](err)
			g.Expect(ok).To(BeTrue())
			g.Expect(failure.Details).To(ContainSubstring(c.fails))
		})
	}
}

func TestProgressBeats(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := newBeats(json.RawMessage(`{"uuid": "11111111-2222", "instance_uuid": "aaaaaaaa-bbbb"}`), begin)
	for _, c := range []struct {
		after   time.Duration
		stage   string
		percent int
		want    string
	}{
		{0, "writing", 0, "writing 0% to sda [aaaaaaaa 03:04:05Z]"},
		{5 * time.Second, "other", 50, ""},
		{11 * time.Second, "writing", 9, ""},
		{12 * time.Second, "writing", 10, "writing 10% to sda [aaaaaaaa 03:04:05Z]"},
		{30 * time.Second, "closing", 0, "closing 0% to sda [aaaaaaaa 03:04:05Z]"},
	} {
		got, due := b.message(begin.Add(c.after), c.stage, c.percent, "to sda")
		g := NewWithT(t)
		g.Expect(got).To(Equal(c.want))
		g.Expect(due).To(Equal(c.want != ""))
	}
}
