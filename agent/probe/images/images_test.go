package images_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/images"
	"github.com/ironflow/ironflow/agent/steps"
)

// podman is a recorded one: which images it has, how long a pull takes, and why one fails.
type podman struct {
	takes map[string]time.Duration
	fails map[string]string
	size  string

	mu    sync.Mutex
	there map[string]bool
	calls []string
}

func (p *podman) Run(ctx context.Context, c command.Command) error {
	p.mu.Lock()
	p.calls = append(p.calls, strings.Join(append([]string{c.Name}, c.Args...), " "))
	image := c.Args[len(c.Args)-1]
	there := p.there[image]
	p.mu.Unlock()
	switch {
	case c.Args[0] == "image" && c.Args[1] == "exists":
		if !there {
			return &command.ExitError{Name: "podman", Code: 1}
		}
	case c.Args[0] == "image" && c.Args[1] == "inspect":
		fmt.Fprintln(c.Stdout, p.size)
	case p.fails[image] != "":
		return &command.ExitError{Name: "podman", Code: 125, Last: p.fails[image]}
	default:
		select {
		case <-time.After(p.takes[image]):
		case <-ctx.Done():
			return fmt.Errorf("podman: %w", context.Cause(ctx))
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.there[image] = true
	}
	return nil
}

func run(ctx context.Context, r command.Runner, request string) steps.Result {
	return images.Check.Runner(probe.Env{Commands: r, Log: slog.New(slog.DiscardHandler)}).Run(ctx, []string{request})
}

func TestPullsSideBySideWithinOneLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		p := &podman{
			there: map[string]bool{"quay.example/a/old:v1": true}, size: "400000000",
			takes: map[string]time.Duration{"quay.example/a/one:v1": 12500 * time.Millisecond, "quay.example/a/two:v1": 10 * time.Second, "quay.example/a/slow:v1": time.Hour},
			fails: map[string]string{"quay.example/a/gone:v1": "Error: manifest unknown"},
		}
		start := time.Now()
		result := run(t.Context(), p, `{"images":["quay.example/a/one:v1","quay.example/a/old:v1","quay.example/a/gone:v1","quay.example/a/slow:v1","quay.example/a/two:v1"],"timeout":60}`)
		g.Expect(time.Since(start)).To(Equal(time.Minute), "one limit for all")
		g.Expect(result.Exit).To(BeEquivalentTo(2))
		g.Expect(result.Output).To(MatchJSON(`{"images":[
			{"name":"quay.example/a/one:v1","result":"success","size_bytes":4e8,"time":12.5,"download_rate":32},
			{"name":"quay.example/a/old:v1","result":"success"},
			{"name":"quay.example/a/gone:v1","result":"failure"},
			{"name":"quay.example/a/slow:v1","result":"failure"},
			{"name":"quay.example/a/two:v1","result":"success","size_bytes":4e8,"time":10,"download_rate":40}]}`))
		g.Expect(strings.Split(result.Error, "\n")).To(Equal([]string{
			"image quay.example/a/gone:v1: podman: exit status 125: Error: manifest unknown",
			"image quay.example/a/slow:v1: podman: not pulled within 1m0s",
		}))

		again := run(t.Context(), p, `{"images":["quay.example/a/one:v1","quay.example/a/two:v1"]}`)
		g.Expect(again.Exit).To(BeZero())
		g.Expect(again.Output).To(MatchJSON(`{"images":[{"name":"quay.example/a/one:v1","result":"success"},{"name":"quay.example/a/two:v1","result":"success"}]}`))
	})
}

func TestWhatPodmanIsAskedFor(t *testing.T) {
	g := NewWithT(t)
	p := &podman{there: map[string]bool{}, size: "1"}
	g.Expect(run(t.Context(), p, `{"images":["quay.example/a/b:c"]}`).Exit).To(BeZero())
	g.Expect(p.calls).To(Equal([]string{
		"podman image exists quay.example/a/b:c", "podman pull --quiet quay.example/a/b:c", "podman image inspect --format {{.Size}} quay.example/a/b:c",
	}))
}

func TestAnOddSizeIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	p := &podman{there: map[string]bool{}, size: strings.Repeat("x", 1000)}
	result := run(t.Context(), p, `{"images":["a/b:c"]}`)
	g.Expect(result.Exit).To(BeZero())
	g.Expect(result.Output).To(MatchJSON(`{"images":[{"name":"a/b:c","result":"success"}]}`))
}

func TestTheEnvironmentOfPodman(t *testing.T) {
	g := NewWithT(t)
	for name, value := range map[string]string{
		"HOME": "/root", "HTTPS_PROXY": "http://proxy.example:3128", "no_proxy": ".example", "CONTAINERS_CONF": "/etc/a.conf", "CONTAINERS_STORAGE_CONF": "/etc/b.conf",
		"REGISTRY_AUTH_FILE": "/run/auth.json", "PULL_SECRET_TOKEN": "secret",
	} {
		t.Setenv(name, value)
	}
	env := images.Environment()
	g.Expect(env).To(ContainElements(
		"HOME=/root", "HTTPS_PROXY=http://proxy.example:3128", "no_proxy=.example", "CONTAINERS_CONF=/etc/a.conf", "CONTAINERS_STORAGE_CONF=/etc/b.conf",
		"REGISTRY_AUTH_FILE=/run/auth.json",
	))
	g.Expect(strings.Join(env, " ")).NotTo(ContainSubstring("secret"))
}
