package host_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/machine/host"
)

// cfg is an Ignition config with the given storage and systemd parts.
func cfg(t *testing.T, storage, systemd map[string]any) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"ignition": map[string]any{"version": "3.4.0"}, "storage": storage, "systemd": systemd})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func file(name, source string, more ...any) map[string]any {
	f := map[string]any{"path": name, "contents": map[string]any{"source": source}, "overwrite": true}
	for i := 0; i+1 < len(more); i += 2 {
		f[more[i].(string)] = more[i+1]
	}
	return f
}

func openRoot(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, dir
}

func TestWritesFilesAndUnits(t *testing.T) {
	g := NewWithT(t)
	root, dir := openRoot(t)
	system, err := host.Write(root, cfg(t, map[string]any{
		"directories": []any{map[string]any{"path": "/var/lib/x", "mode": 0o700}},
		"files": []any{
			file("/etc/plain", "data:,a%20b", "mode", 0o600),
			file("/etc/base64", "data:text/plain;charset=utf-8;base64,aGkK"),
			map[string]any{"path": "/etc/packed", "contents": map[string]any{
				"source": "data:;base64,H4sIAAAAAAACA8vIBACsKpPYAgAAAA==", "compression": "gzip",
			}},
			map[string]any{"path": "/etc/grown", "append": []any{map[string]any{"source": "data:,c"}, map[string]any{"source": "data:,d"}}},
		},
		"links": []any{map[string]any{"path": "/etc/link", "target": "plain"}},
	}, map[string]any{"units": []any{
		map[string]any{"name": "ironic-agent.service", "enabled": true, "contents": "[Service]\n"},
		map[string]any{"name": "agent.service", "enabled": false, "contents": "[Service]\n", "dropins": []any{map[string]any{"name": "a.conf", "contents": "x"}}},
	}}))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(system.Check()).To(Succeed())
	g.Expect(system.HasAgent()).To(BeTrue())
	for name, want := range map[string]string{
		"etc/base64": "hi\n", "etc/packed": "hi", "etc/link": "a b", "etc/grown": "cd", "etc/systemd/system/agent.service.d/a.conf": "x",
	} {
		g.Expect(os.ReadFile(filepath.Join(dir, name))).To(BeEquivalentTo(want), name)
	}
}

func TestHostileConfigs(t *testing.T) {
	link := func(name, target string) map[string]any { return map[string]any{"path": name, "target": target} }
	for _, c := range []struct {
		name    string
		storage map[string]any
		want    string
	}{
		{"parent path", map[string]any{"files": []any{file("/../../escaped", "data:,x")}}, ""},
		{"through a link", map[string]any{"links": []any{link("/a", "../..")}, "directories": []any{map[string]any{"path": "/a/escaped"}}}, ""},
		{"remote source", map[string]any{"files": []any{file("/x", "https://example.com/x")}}, "only data: is"},
		{"disks", map[string]any{"disks": []any{map[string]any{"device": "/dev/sda"}}}, "not possible on a simulated machine"},
		{"not base64", map[string]any{"files": []any{file("/x", "data:;base64,%%%")}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			root, dir := openRoot(t)
			_, err := host.Write(root, cfg(t, c.storage, nil))
			outside, _ := filepath.Glob(filepath.Join(dir, "..", "escaped"))
			above, _ := filepath.Glob(filepath.Join(dir, "..", "..", "escaped"))
			g.Expect(append(outside, above...)).To(BeEmpty(), "nothing outside the root")
			if c.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.want)))
			}
		})
	}
}

func TestFilesThroughALinkOutOfTheRootAreRefused(t *testing.T) {
	g := NewWithT(t)
	root, dir := openRoot(t)
	g.Expect(os.Symlink("/tmp", filepath.Join(dir, "out"))).To(Succeed())
	_, err := host.Write(root, cfg(t, map[string]any{"files": []any{file("/out/x", "data:,x")}}, nil))
	g.Expect(err).To(MatchError(ContainSubstring("file /out/x")))
}

func TestUnitsOfALiveImage(t *testing.T) {
	for _, c := range []struct {
		name    string
		enabled map[string]bool
		want    error
	}{
		{"with agent", map[string]bool{"ironic-agent.service": true, "agent.service": false}, nil},
		{"IPA only", map[string]bool{"ironic-agent.service": true}, nil},
		{"no IPA", map[string]bool{"agent.service": false}, host.ErrNoIPA},
		{"IPA not enabled", map[string]bool{"ironic-agent.service": false}, host.ErrNoIPA},
		{"agent enabled", map[string]bool{"ironic-agent.service": true, "agent.service": true}, host.ErrAgentEnabled},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			err := host.System{Enabled: c.enabled}.Check()
			if c.want == nil {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(c.want))
		})
	}
}

func TestRunHandsOverStreamsAndExit(t *testing.T) {
	g := NewWithT(t)
	s := host.NewStarter()
	defer s.Close()
	var lines []string
	var log bytes.Buffer
	dir := t.TempDir()
	err := s.Run(t.Context(), dir, host.Command{
		Path: "/bin/sh", Args: []string{"-c", `read x; echo "got $x"; echo "in $IRONFLOW_ROOT" >&2; echo $MORE; exit 3`},
		Stdin: []byte("input\n"), Env: []string{"MORE=more"},
		Line: func(line []byte) { lines = append(lines, string(line)) }, Log: &log,
	})
	exit, ok := errors.AsType[*exec.ExitError](err)
	g.Expect(ok).To(BeTrue(), "%v", err)
	g.Expect(exit.ExitCode()).To(Equal(3))
	g.Expect(lines).To(Equal([]string{"got input", "more"}))
	g.Expect(log.String()).To(Equal("in " + dir + "\n"))
}

// A program that leaves others behind, in other process groups, is what an
// agent under the stand-in looks like.
func TestKillAllLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	s := host.NewStarter()
	defer s.Close()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, dir, host.Command{
			Path: "/bin/sh", Args: []string{"-c", "setsid sleep 1000 & setsid sleep 1000 & echo up; sleep 1000"},
			Line: func([]byte) { close(started) },
		})
	}()
	<-started
	g.Eventually(func() int { return len(host.Processes(dir)) }, 20*time.Second, time.Millisecond).Should(BeNumerically(">=", 4))
	cancel()
	host.KillAll(t.Context(), dir)
	g.Expect(host.Processes(dir)).To(BeEmpty())
	g.Expect(<-ended).To(MatchError(context.Canceled))
}

func TestLogsLeaveTheSecretsOut(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"etc/ironflow/agent.env": "TOKEN=x", "run/ironflow/reason.json": "{}", "console.log": "hello"} {
		file := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	}
	raw, err := host.Logs(dir, map[string]string{"console.log": filepath.Join(dir, "console.log"), "step.log": filepath.Join(dir, "none")})
	g.Expect(err).NotTo(HaveOccurred())
	z, err := gzip.NewReader(bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		names = append(names, header.Name)
	}
	g.Expect(names).To(ConsistOf("console.log", "run/ironflow/reason.json"))
}
