package logs_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

var bootstrap = logs.Order{ClusterID: id, Host: host, Bootstrap: true, InstallerGather: true, Masters: []string{"192.0.2.1", "2001:db8::1"}}

// targz is an archive of the files; packed ones are compressed within.
func targz(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for name, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := io.WriteString(zip, text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func gunzipped(t *testing.T, raw string) string {
	t.Helper()
	zip, err := gzip.NewReader(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// members are the files of a bundle within an archive.
func members(t *testing.T, raw string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	zip, err := gzip.NewReader(strings.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(archive)
		g.Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(text)
	}
}

// script is an installer-gather.sh on the host: it collects, takes its time, and
// leaves a bundle, as the real one does.
type script struct {
	t     *testing.T
	dir   hostfile.Dir
	takes time.Duration
	ends  error
	calls []command.Command
	ids   []string
}

func (s *script) run(ctx context.Context, c command.Command) error {
	runID := c.Args[1]
	s.calls, s.ids = append(s.calls, c), append(s.ids, runID)
	played.Write(s.t, s.dir, "/tmp/artifacts-"+runID+"/bootstrap/journals/kubelet.log", "kubelet says token=hunter22\n")
	_, _ = io.WriteString(c.Stdout, "Gathering bootstrap journals ...\n")
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.ends == nil {
		played.Write(s.t, s.dir, "/root/log-bundle-"+runID+".tar.gz", targz(s.t, map[string]string{
			"log-bundle-" + runID + "/bootstrap/journals/kubelet.log": "kubelet says token=hunter22\nall of it\n",
			"log-bundle-" + runID + "/resources/openapi.json.gz":      gzipped(s.t, `{"auth":"hunter22"}`),
			"log-bundle-" + runID + "/etcd.db":                        "\x00\x01hunter22",
			"/etc/../../escape":                                       "out",
		}))
	}
	return s.ends
}

func (s *script) sources() logs.Sources {
	return logs.Sources{Dir: s.dir, Commands: programs{"journalctl": journal, "lsblk": played.Says(""), "lvm": played.Says(""), "installer-gather.sh": s.run}}
}

// bundleOf is the bundle in an archive, by the ending of its name.
func bundleOf(files map[string]string, ending string) (name, raw string) {
	for name, raw := range files {
		if strings.HasPrefix(name, "log-bundle-") && strings.HasSuffix(name, ending) {
			return name, raw
		}
	}
	return "", ""
}

func TestControlPlaneLogsGoUpEachMinuteAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &script{t: t, dir: machine(t, nil), takes: 150 * time.Second}
		h := &hub{}
		start := time.Now()
		g.Expect(sender(h, s.sources()).Send(t.Context(), bootstrap)).To(Succeed())

		g.Expect(s.calls).To(HaveLen(1))
		g.Expect(s.calls[0].Args).To(Equal([]string{"--id", s.ids[0], "192.0.2.1", "2001:db8::1"}))
		g.Expect(s.calls[0].Env).To(ContainElement("HOME=/root"))
		g.Expect(h.states).To(Equal([]wire.LogsState{"requested", "collecting", "collecting", "collecting", "collecting", "completed"}))
		var at []time.Duration
		for _, when := range h.at {
			at = append(at, when.Sub(start))
		}
		g.Expect(at).To(Equal([]time.Duration{0, time.Minute, 2 * time.Minute, 150 * time.Second}))

		files := untar(t, h.uploads[1].bytes)
		name, raw := bundleOf(files, "-partial.tar.gz")
		g.Expect(name).To(Equal("log-bundle-" + s.ids[0] + "-partial.tar.gz"))
		g.Expect(members(t, raw)).To(Equal(map[string]string{
			"log-bundle-" + s.ids[0] + "/bootstrap/journals/kubelet.log": "kubelet says token=***\n",
		}))
		g.Expect(files["installer-gather.logs"]).To(Equal("Gathering bootstrap journals ...\n"))
		g.Expect(files).To(HaveKey("agent.logs"))

		files = untar(t, h.uploads[3].bytes)
		raw = files["log-bundle-"+s.ids[0]+".tar.gz"]
		whole := members(t, raw)
		g.Expect(whole).To(HaveKeyWithValue("log-bundle-"+s.ids[0]+"/bootstrap/journals/kubelet.log", "kubelet says token=***\nall of it\n"))
		g.Expect(gunzipped(t, whole["log-bundle-"+s.ids[0]+"/resources/openapi.json.gz"])).To(Equal(`{"auth":"***"}`))
		g.Expect(whole["report.logs"]).To(ContainSubstring("etcd.db: is not text, and left out"))
		g.Expect(whole).To(HaveLen(3), "no file leads out of the bundle")
		left, err := filepath.Glob(s.dir.Path("/*/*" + s.ids[0] + "*"))
		g.Expect(left, err).To(BeEmpty(), "nothing of it stays in the memory of the live system")
	})
}

func TestAGatherScriptThatFailsOrHangs(t *testing.T) {
	for name, tc := range map[string]struct {
		takes time.Duration
		ends  error
		text  string
		after time.Duration
	}{
		"fails": {10 * time.Second, errors.New("no route to host"), "installer-gather.logs: no route to host", 10 * time.Second},
		"hangs": {24 * time.Hour, nil, "installer-gather.logs: took longer than 30m0s", 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := &script{t: t, dir: machine(t, nil), takes: tc.takes, ends: tc.ends}
				h := &hub{}
				start := time.Now()
				g.Expect(sender(h, s.sources()).Send(t.Context(), bootstrap)).To(Succeed())
				g.Expect(time.Since(start)).To(Equal(tc.after))
				files := untar(t, h.uploads[len(h.uploads)-1].bytes)
				g.Expect(files["report.logs"]).To(ContainSubstring(tc.text))
				_, raw := bundleOf(files, ".tar.gz")
				g.Expect(members(t, raw)).To(HaveKey(ContainSubstring("kubelet.log")), "what it had collected is sent")
				g.Expect(files).To(HaveKey("journal.logs"))
			})
		})
	}
}

func TestTwoRunsDoNotMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &script{t: t, dir: machine(t, nil), takes: 30 * time.Second}
		first, second := &hub{}, &hub{}
		ended := make(chan error)
		order := bootstrap
		go func() { ended <- sender(first, s.sources()).Send(t.Context(), order) }()
		<-time.After(time.Millisecond) // the same second
		g.Expect(sender(second, s.sources()).Send(t.Context(), order)).To(Succeed())
		g.Expect(<-ended).To(Succeed())
		g.Expect(s.ids).To(HaveLen(2))
		g.Expect(s.ids[0]).NotTo(Equal(s.ids[1]))
		for i, h := range []*hub{first, second} {
			g.Expect(untar(t, h.uploads[1].bytes)).To(HaveKey("log-bundle-"+s.ids[i]+".tar.gz"), "each run sends its own bundle")
		}
	})
}

func TestACopyIsKeptWhereItIsWanted(t *testing.T) {
	for _, keep := range []bool{true, false} {
		g := NewWithT(t)
		dir := machine(t, nil)
		h := &hub{}
		g.Expect(sender(h, logs.Sources{Dir: dir, Own: func() []byte { return []byte("own") }}).Send(t.Context(), logs.Order{ClusterID: id, Host: host, Keep: keep})).To(Succeed())
		copies, err := filepath.Glob(dir.Path("/var/log/logs_host_" + id + "-*/logs.tar.gz"))
		g.Expect(err).NotTo(HaveOccurred())
		if !keep {
			g.Expect(copies).To(BeEmpty())
			continue
		}
		g.Expect(copies).To(HaveLen(1))
		raw, err := os.ReadFile(copies[0])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(raw).To(Equal(h.uploads[0].bytes))
	}
}

// FuzzBundle: whatever a script leaves, what is made of it is a sound archive
// without files that lead out of it.
func FuzzBundle(f *testing.F) {
	f.Add([]byte("no archive"))
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for name, text := range map[string]string{"a/b.log": "token=hunter22\n", "../c": "x", "d.gz": "\x1f\x8b\x08", "e.db": "\x00"} {
		_ = archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(text))})
		_, _ = io.WriteString(archive, text)
	}
	_, _ = archive.Close(), zip.Close()
	f.Add(out.Bytes())
	f.Add(out.Bytes()[:out.Len()/2])
	f.Fuzz(func(t *testing.T, raw []byte) {
		file := filepath.Join(t.TempDir(), "log-bundle.tar.gz")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		rewritten, err := logs.Rewrite(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range members(t, rewritten) {
			if !filepath.IsLocal(name) {
				t.Errorf("%q leads out of the bundle", name)
			}
			if strings.Contains(text, "token=hunter22") {
				t.Errorf("%q holds a secret", name)
			}
		}
	})
}
