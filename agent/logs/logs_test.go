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
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const id = "11111111-1111-4111-8111-111111111111"

// untar returns the archive's files.
func untar(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	g := NewWithT(t)
	zip, err := gzip.NewReader(bytes.NewReader(raw))
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

func piece(name, text string, err error) logs.Piece {
	return logs.Piece{Name: name, Read: func(context.Context) ([]byte, error) { return []byte(text), err }}
}

func TestArchive(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(logs.Write(t.Context(), &out, id, []logs.Piece{
		piece("a.logs", "POST /v1/commands?agent_token=s3cret&wait=1\n", nil),
		piece("empty.logs", "", nil),
		piece("half.logs", "the first lines", errors.New("journalctl: exit status 1 (password=s3cret)")),
	})).To(Succeed())
	g.Expect(untar(t, out.Bytes())).To(Equal(map[string]string{
		"logs_host_" + id + "/a.logs":      "POST /v1/commands?agent_token=***&wait=1\n",
		"logs_host_" + id + "/half.logs":   "the first lines",
		"logs_host_" + id + "/report.logs": "half.logs: journalctl: exit status 1 (password=***\n",
	}))
}

func TestSecretsAreBlottedOut(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"environment":   {"PULL_SECRET_TOKEN=abc.def\n", "PULL_SECRET_TOKEN=***\n"},
		"header":        {"X-Secret-Key: abc", "X-Secret-Key: ***"},
		"JSON":          {`{"agent_token": "abc", "x": 1}`, `{"agent_token": "***", "x": 1}`},
		"pull secret":   {`{"auths":{"r":{"auth":"dXNlcjpwdw=="}}}`, `{"auths":{"r":{"auth":"***"}}}`},
		"bearer":        {"Authorization: Bearer abc.def", "Authorization: Bearer ***"},
		"URL":           {"http://user:pw@proxy.example:3128/x", "http://user:***@proxy.example:3128/x"},
		"nothing":       {"the token was refused; look at http://hub.example:8090", "the token was refused; look at http://hub.example:8090"},
		"image request": {"GET /images?image_token=abc HTTP/1.1", "GET /images?image_token=*** HTTP/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			g.Expect(logs.Write(t.Context(), &out, id, []logs.Piece{piece("x", tc.text, nil)})).To(Succeed())
			g.Expect(untar(t, out.Bytes())).To(HaveKeyWithValue("logs_host_"+id+"/x", tc.want))
		})
	}
}

func TestPiecesOfAHost(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	g.Expect(dir.Write(hostfile.ReasonFile, hostfile.Reason{Text: "why"})).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(dir.Root, "proc"), 0o755)).To(Succeed())
	pieces := logs.Pieces(logs.Sources{
		Dir: dir, Own: func() []byte { return []byte("own") }, Inventory: func() []byte { return []byte("{}") },
	})
	var out bytes.Buffer
	g.Expect(logs.Write(t.Context(), &out, id, pieces)).To(Succeed())
	files := untar(t, out.Bytes())
	g.Expect(files).To(HaveKeyWithValue("logs_host_"+id+"/agent.logs", "own"))
	g.Expect(files).To(HaveKeyWithValue("logs_host_"+id+"/reason.json", ContainSubstring("why")))
	g.Expect(files).NotTo(HaveKey("logs_host_"+id+"/report.logs"), "a file that is not there is no failure")
	g.Expect(len(logs.Pieces(logs.Sources{Commands: true}))).To(BeNumerically(">", len(pieces)))
}

// hub records what it is sent.
type hub struct {
	states []wire.LogsState
	upload []byte
	refuse error
}

func (h *hub) LogsProgress(_ context.Context, _ hubclient.Host, s wire.LogsState) error {
	h.states = append(h.states, s)
	return nil
}

func (h *hub) UploadLogs(_ context.Context, _ hubclient.Host, _, _ string, write func(io.Writer) error) error {
	if h.refuse != nil {
		return h.refuse
	}
	var out bytes.Buffer
	err := write(&out)
	h.upload = out.Bytes()
	return err
}

func TestStep(t *testing.T) {
	request := `{"cluster_id":"` + id + `","infra_env_id":"` + id + `","host_id":"` + id + `","bootstrap":false,"installer_gather":true,"master_ips":null}`
	for name, tc := range map[string]struct {
		args   []string
		refuse error
		exit   int64
		states []wire.LogsState
	}{
		"sent":    {[]string{request}, nil, 0, []wire.LogsState{"requested", "collecting", "completed"}},
		"refused": {[]string{request}, errors.New("413"), -1, []wire.LogsState{"requested", "collecting"}},
		"odd id":  {[]string{`{"cluster_id":"../x"}`}, nil, -1, nil},
		"no args": {nil, nil, -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &hub{refuse: tc.refuse}
			step := logs.Step(h, func() []logs.Piece { return []logs.Piece{piece("a", "text", nil)} })
			result := step.Run(t.Context(), tc.args)
			g.Expect(result.Exit).To(Equal(tc.exit), result.Error)
			g.Expect(h.states).To(Equal(tc.states))
			if tc.exit == 0 {
				g.Expect(untar(t, h.upload)).To(HaveLen(1))
			}
		})
	}
}
