package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/ipa/contract"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/plugin"
)

// listsTryIt is what most programs of the cases list.
const listsTryIt = `[{"step": "try_it", "interface": "deploy", "priority": 0, "reboot_requested": false, "argsinfo": {}}]`

var quiet = slog.New(slog.DiscardHandler)

func table(t *testing.T) contract.Table {
	t.Helper()
	cases, err := contract.Cases()
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func call(step string, beat func(context.Context, string) error) ipa.Call {
	if beat == nil {
		beat = func(context.Context, string) error { return nil }
	}
	return ipa.Call{
		Kind: ipa.Deploy, Step: step, Node: json.RawMessage(`{"uuid": "11111111-2222-3333-4444-555555555555"}`), Ports: json.RawMessage("[]"), Beat: beat,
	}
}

func TestLists(t *testing.T) {
	for _, c := range table(t).Lists {
		t.Run(c.Name, func(t *testing.T) {
			g := NewWithT(t)
			asked := 0
			m := plugin.New(plugin.Options{Log: quiet, Program: func(_ context.Context, _ string, _ []byte, line func([]byte), _ io.Writer) error {
				answer := c.Answers[min(asked, len(c.Answers)-1)]
				asked++
				line([]byte(answer.Stdout))
				if answer.Exit != 0 {
					return errors.New("exit status")
				}
				return nil
			}})
			for _, want := range c.Steps {
				steps, err := m.Steps(t.Context(), ipa.Deploy)
				g.Expect(err).NotTo(HaveOccurred())
				names := []string{}
				for _, s := range steps {
					names = append(names, s.Name)
				}
				g.Expect(names).To(Equal(want))
			}
		})
	}
}

// script makes a program of the case.
func script(t *testing.T, c contract.Run) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ironflow-step")
	if c.Missing {
		return path
	}
	var body strings.Builder
	fmt.Fprintf(&body, "#!/bin/sh\n[ \"$1\" != list ] || { echo '%s'; exit 0; }\n", listsTryIt)
	if !c.Unread {
		body.WriteString("cat >/dev/null\n")
	}
	for _, line := range c.Stdout {
		fmt.Fprintf(&body, "cat <<'EOF'\n%s\nEOF\n", line)
	}
	fmt.Fprintf(&body, "cat >&2 <<'EOF'\n%sEOF\n", c.Stderr)
	if c.Signal != 0 {
		fmt.Fprintf(&body, "kill -%d $$\n", c.Signal)
	}
	fmt.Fprintf(&body, "exit %d\n", c.Exit)
	if err := os.WriteFile(path, []byte(body.String()), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRuns(t *testing.T) {
	for _, c := range table(t).Runs {
		t.Run(c.Name, func(t *testing.T) {
			g := NewWithT(t)
			starter := host.NewStarter()
			defer starter.Close()
			path, root := script(t, c), t.TempDir()
			var stages []string
			m := plugin.New(plugin.Options{
				Log: quiet, Progress: func(line plugin.Line) { stages = append(stages, line.Stage) },
				Program: func(ctx context.Context, argument string, stdin []byte, line func([]byte), log io.Writer) error {
					if c.Missing && argument == "list" {
						line([]byte(listsTryIt)) // it was there a moment ago
						return nil
					}
					return starter.Run(ctx, root, host.Command{Path: path, Args: []string{argument}, Stdin: stdin, Line: line, Log: log})
				},
			})
			step := call("try_it", nil)
			if c.Unread {
				step.Args = map[string]json.RawMessage{"big": bytes.Repeat([]byte("1"), 100<<10)}
			}
			result, err := m.Run(t.Context(), step)
			g.Expect(stages).To(Equal(c.Progress), "progress")
			if c.Result != nil {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(result).To(Equal(c.Result))
				return
			}
			failure, ok := errors.AsType[*ipa.Error](err)
			g.Expect(ok).To(BeTrue(), "%v", err)
			if begin, more := strings.CutSuffix(c.Reason, ": …"); more {
				g.Expect(failure.Details).To(HavePrefix(begin + ": "))
				return
			}
			g.Expect(failure.Details).To(Equal(c.Reason))
		})
	}
}

// sink is Ironic, as far as heartbeats go: what came, and when.
type sink struct {
	begin   time.Time
	slow    time.Duration
	refused []int
	beats   []contract.Beat
	count   int
}

var mark = regexp.MustCompile(` \[11111111 \d\d:\d\d:\d\dZ\]$`)

func (s *sink) beat(ctx context.Context, message string) error {
	at := time.Since(s.begin).Seconds()
	if message != "" && !mark.MatchString(message) {
		message += " (without its mark)"
	}
	s.beats = append(s.beats, contract.Beat{At: at, Text: mark.ReplaceAllString(message, "")})
	s.count++
	select {
	case <-ctx.Done():
	case <-time.After(s.slow):
	}
	if slices.Contains(s.refused, s.count-1) {
		return errors.New("refused")
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// pass waits until a moment behind begin, in the time of testing/synctest.
func pass(begin time.Time, at float64) {
	time.Sleep(time.Until(begin.Add(seconds(at)))) //nolint:forbidigo // the clock of testing/synctest: nobody waits
	synctest.Wait()
}

// lists is a program that lists a step and runs it by a function.
func lists(step string, run func(line func([]byte))) plugin.Program {
	return func(_ context.Context, argument string, _ []byte, line func([]byte), _ io.Writer) error {
		if argument == "list" {
			line([]byte(strings.ReplaceAll(listsTryIt, "try_it", step)))
			return nil
		}
		run(line)
		line([]byte(`{"outcome": "done"}`))
		return nil
	}
}

func TestProgress(t *testing.T) {
	for _, c := range table(t).Progress {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ironic := &sink{begin: time.Now(), slow: seconds(c.Slow), refused: c.Refused}
				var late time.Duration
				m := plugin.New(plugin.Options{Log: quiet, AllProgress: c.All, Program: lists(c.Step, func(line func([]byte)) {
					for _, l := range c.Lines {
						pass(ironic.begin, l.At)
						raw, err := json.Marshal(map[string]any{"stage": l.Stage, "percent": l.Percent, "text": l.Text})
						g.Expect(err).NotTo(HaveOccurred())
						line(raw)
						late = max(late, time.Since(ironic.begin.Add(seconds(l.At))))
					}
					pass(ironic.begin, c.Ends)
				})})
				life, end := context.WithCancel(t.Context())
				_, err := m.Run(life, call(c.Step, ironic.beat))
				end()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(late).To(BeZero(), "a line was held up")
				synctest.Wait()
				g.Expect(ironic.beats).To(ConsistOf(c.Beats))
			})
		})
	}
}

func TestEnds(t *testing.T) {
	for _, c := range table(t).Ends {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ironic := &sink{begin: time.Now()}
				m := plugin.New(plugin.Options{Log: quiet, Program: lists("try_it", func(func([]byte)) {})})
				life, end := context.WithCancel(t.Context())
				_, err := m.Run(life, call("try_it", ironic.beat))
				g.Expect(err).NotTo(HaveOccurred())
				if c.Next > 0 {
					pass(ironic.begin, c.Next)
					_, err := m.Run(life, call("try_it", func(context.Context, string) error { return nil }))
					g.Expect(err).NotTo(HaveOccurred())
				}
				pass(ironic.begin, 60)
				end()
				times := []float64{}
				for _, b := range ironic.beats {
					g.Expect(b.Text).To(BeEmpty())
					times = append(times, b.At)
				}
				g.Expect(times).To(HaveLen(len(c.Beats)))
				for i, at := range c.Beats {
					g.Expect(times[i]).To(BeNumerically("~", at, 0.001))
				}
			})
		})
	}
}
