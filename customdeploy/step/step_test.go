package step_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
)

// lines decodes what a step wrote.
func lines(g *WithT, out *bytes.Buffer) (progress []map[string]any, last map[string]any) {
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		g.Expect(json.Unmarshal([]byte(line), &m)).To(Succeed(), "line %q", line)
		progress = append(progress, m)
	}
	g.Expect(progress).NotTo(BeEmpty(), "a step always writes a last line")
	return progress[:len(progress)-1], progress[len(progress)-1]
}

func run(t *testing.T, name, stdin string, f step.Func) (int, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	steps := step.Registry{{Name: "try", Interface: "deploy", Args: map[string]step.Argument{
		"must": {Description: "needed", Required: true}, "may": {Description: "optional"},
	}, Run: f}}
	code := step.Run(t.Context(), steps, name, hostfile.Dir{Root: t.TempDir()},
		step.Streams{In: strings.NewReader(stdin), Out: &out, Log: slog.New(slog.DiscardHandler)})
	return code, &out
}

func TestBadInput(t *testing.T) {
	for name, tc := range map[string]struct{ step, stdin, reason string }{
		"unknown step":     {"other", `{}`, `unknown step "other"`},
		"no input":         {"try", " \n", "stdin is empty"},
		"no JSON":          {"try", "hello", "stdin is not"},
		"wrong type":       {"try", `{"node": 7}`, "stdin is not"},
		"missing argument": {"try", `{"args": {}}`, `needs the argument "must": needed`},
		"unknown argument": {"try", `{"args": {"must": 1, "foo": 2}}`, `has no argument "foo"; it takes: may, must`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, out := run(t, tc.step, tc.stdin, func(context.Context, *step.Request) step.Report {
				t.Fatal("the step must not run")
				return step.Report{}
			})
			_, last := lines(g, out)
			g.Expect(code).To(Equal(2))
			g.Expect(last).To(HaveKeyWithValue("outcome", "bad-input"))
			g.Expect(last["reason"]).To(ContainSubstring(tc.reason))
		})
	}
}

func TestOutcomesAndExitCodes(t *testing.T) {
	for outcome, code := range map[step.Outcome]int{
		step.Done: 0, step.Failed: 1, step.BadInput: 2, step.ImageUnfit: 3, step.Deadline: 4, step.Cancelled: 5,
	} {
		t.Run(string(outcome), func(t *testing.T) {
			g := NewWithT(t)
			got, out := run(t, "try", `{"node": {"uuid": "u"}, "args": {"must": 1}, "newer": true}`, func(_ context.Context, r *step.Request) step.Report {
				g.Expect(r.Node.UUID).To(Equal("u"))
				return step.Report{Outcome: outcome, Reason: "a\nb \xff" + strings.Repeat("ä", 600), Detail: []string{"\xfe"}}
			})
			g.Expect(got).To(Equal(code))
			_, last := lines(g, out)
			g.Expect(last).To(HaveKeyWithValue("outcome", string(outcome)))
			g.Expect(last["reason"]).To(And(HavePrefix("a b \uFFFDä"), HaveSuffix("…")))
			g.Expect(len(last["reason"].(string))).To(BeNumerically("<=", 512))
		})
	}
}

// TestALastLineThatIsRead: IPA's plugin leaves out a line of more than a mebibyte, and the outcome with it. The
// journal of a unit has lines of any length, and quotes take two bytes each.
func TestALastLineThatIsRead(t *testing.T) {
	g := NewWithT(t)
	var detail []string
	for range 500 {
		detail = append(detail, "journal: "+strings.Repeat(`"`, 48<<10))
	}
	detail = append(detail, "journal: the newest")
	_, out := run(t, "try", `{"args": {"must": 1}}`, func(context.Context, *step.Request) step.Report {
		return step.Report{Outcome: step.Failed, Reason: "it failed", Detail: detail}
	})
	g.Expect(out.Len()).To(BeNumerically("<", 1<<20))
	_, last := lines(g, out)
	g.Expect(last).To(HaveKeyWithValue("reason", "it failed"))
	g.Expect(last["detail"]).To(ContainElement("journal: the newest"))
	g.Expect(last["detail"]).To(ContainElement(And(HavePrefix(`journal: """`), HaveSuffix("…"))))
}

func TestProgressAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		begin := time.Now()
		_, out := run(t, "try", `{"args": {"must": 1}}`, func(_ context.Context, r *step.Request) step.Report {
			for i := range 41 { // nine a second
				r.Progress("write", i, "x")
				pass(110 * time.Millisecond)
			}
			r.Progress("write", 99, "the last before the end")
			return step.Report{Outcome: step.Done, Result: map[string]any{"n": 1}}
		})
		progress, last := lines(g, out)
		g.Expect(progress).To(HaveLen(6))
		g.Expect(progress[0]).To(HaveKeyWithValue("percent", 0.0))
		g.Expect(progress[1]).To(HaveKeyWithValue("percent", 9.0))
		g.Expect(progress[5]).To(HaveKeyWithValue("text", "the last before the end"))
		g.Expect(progress[0]["t"]).To(Equal(begin.UTC().Format(time.RFC3339Nano)))
		g.Expect(last["result"]).To(Equal(map[string]any{"n": 1.0}))
	})
}

func TestDeadlines(t *testing.T) {
	defaults := step.Deadlines{Start: time.Minute, Idle: time.Hour, Total: 2 * time.Hour}
	for name, tc := range map[string]struct {
		file, args string
		want       step.Deadlines
		err        string
	}{
		"defaults":        {want: defaults},
		"file":            {file: `{"idle_s": 5}`, want: step.Deadlines{Start: time.Minute, Idle: 5 * time.Second, Total: 2 * time.Hour}},
		"args win":        {file: `{"idle_s": 5, "total_s": 6}`, args: `{"idle_s": 7}`, want: step.Deadlines{Start: time.Minute, Idle: 7 * time.Second, Total: 6 * time.Second}},
		"broken file":     {file: `{`, err: "/etc/ironflow/deadlines.json is not valid JSON"},
		"negative file":   {file: `{"start_s": -1}`, err: "must not be negative"},
		"argument 0":      {args: `{"start_s": 0}`, err: "argument start_s must be a whole number of seconds above 0, not 0"},
		"argument string": {args: `{"start_s": "7"}`, err: "argument start_s must be a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := hostfile.Dir{Root: t.TempDir()}
			if tc.file != "" {
				path := host.Path(hostfile.Deadlines)
				g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(path, []byte(tc.file), 0o600)).To(Succeed())
			}
			req := &step.Request{Host: host}
			if tc.args != "" {
				g.Expect(json.Unmarshal([]byte(tc.args), &req.Args)).To(Succeed())
			}
			got, err := req.Deadlines(defaults)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

// pass lets fake time go by.
func pass(d time.Duration) { <-time.After(d) }
