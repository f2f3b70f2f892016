package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
)

// logsHub takes logs and keeps what it was told.
type logsHub struct {
	tokens, calls []string
	files         map[string]string
	code          int
}

func (h *logsHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.tokens = append(h.tokens, r.Header.Get("X-Secret-Key"))
	if r.Method == http.MethodPut {
		raw, _ := io.ReadAll(r.Body)
		h.calls = append(h.calls, r.URL.Path+" "+string(raw))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.calls = append(h.calls, r.URL.String())
	file, _, err := r.FormFile("upfile")
	if err == nil {
		h.files, err = untar(file)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(h.code)
}

func untar(from io.Reader) (map[string]string, error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		files[filepath.Base(header.Name)] = string(text)
	}
}

func TestLogsSender(t *testing.T) {
	const cluster, host, env = "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333", "11111111-1111-4111-8111-111111111111"
	for name, tc := range map[string]struct {
		flags   []string
		env     string // PULL_SECRET_TOKEN
		answer  int
		code    int
		token   string
		errs    string
		copies  int
		without []string
	}{
		"sent":                        {[]string{"-infra-env-id", env}, "s3cret.env", 204, 0, "s3cret.env", "", 0, []string{"bootkube.logs"}},
		"an older caller's token":     {[]string{"-infra-env-id", env, "-pull-secret-token", "s3cret.flag"}, "", 204, 0, "s3cret.flag", "", 0, nil},
		"the environment comes first": {[]string{"-infra-env-id", env, "-pull-secret-token=s3cret.flag"}, "s3cret.env", 204, 0, "s3cret.env", "", 0, nil},
		"a copy stays":                {[]string{"-infra-env-id", env, "-dont-clean"}, "", 204, 0, "", "", 1, nil},
		"all flags of older callers": {
			[]string{"-infra-env-id", env, "-since", "5 hours ago", "-bootstrap", "-with-installer-gather-logging=true", "-masters-ips", "192.0.2.1,192.0.2.2", "-with-text-logging=false"},
			"", 204, 0, "", "", 0, nil,
		},
		"masters that are none":       {[]string{"-masters-ips=192.0.2.1,--id"}, "", 204, 2, "", `"--id" is not an address`, 0, nil},
		"a hub that does not take it": {[]string{"-infra-env-id", env}, "", 409, 255, "", "409", 0, nil},
		"without an infra-env":        {nil, "", 204, 0, "", "", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			t.Setenv(hostfile.RootEnv, dir.Root)
			t.Setenv("PULL_SECRET_TOKEN", tc.env)
			g.Expect(dir.Write(hostfile.ReasonFile, hostfile.Reason{Text: "said with s3cret.env and s3cret.flag"})).To(Succeed())
			h := &logsHub{code: tc.answer}
			server := httptest.NewServer(h)
			defer server.Close()
			args := append([]string{"logs_sender", "--dry-run", "-url", server.URL, "-cluster-id", cluster, "-host-id", host}, tc.flags...)
			code, out, errs := call(t, args...)
			g.Expect(code).To(Equal(tc.code), errs)
			g.Expect(errs).To(ContainSubstring(tc.errs))
			g.Expect(errs + out).NotTo(ContainSubstring("s3cret"))
			copies, _ := filepath.Glob(dir.Path("/var/log/logs_host_" + host + "-*/logs.tar.gz"))
			g.Expect(copies).To(HaveLen(tc.copies))
			if tc.code == program.ExitFlags {
				g.Expect(h.calls).To(BeEmpty())
				return
			}
			g.Expect(slices.Compact(h.tokens)).To(Equal([]string{tc.token}))
			g.Expect(h.files).To(HaveKey("reason.json"))
			if tc.token != "" {
				g.Expect(h.files["reason.json"]).NotTo(ContainSubstring(tc.token))
			}
			for _, file := range tc.without {
				g.Expect(h.files).NotTo(HaveKey(file))
			}
			if len(tc.flags) > 0 && tc.code == 0 {
				own := "/api/assisted-install/v2/infra-envs/" + env + "/hosts/" + host + "/logs-progress "
				g.Expect(h.calls).To(Equal([]string{
					own + `{"logs_state":"requested"}`, own + `{"logs_state":"collecting"}`,
					"/api/assisted-install/v2/clusters/" + cluster + "/logs?host_id=" + host + "&infra_env_id=" + env + "&logs_type=host",
					own + `{"logs_state":"completed"}`,
				}))
			}
		})
	}
}
