package main

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/hostfile"
)

func TestDocumentationHasEverySettingOfAgentBased(t *testing.T) {
	var s nodeZero
	table := s.table()
	own := s.flags().Rows
	NewWithT(t).Expect(settings.Rows(table)).To(HaveLen(len(own)+len(sharedWithHub)), "a shared setting does not exist")
	want := agentBasedTable(own) + "\nAnd of `ironflow run`: `--" + strings.Join(sharedWithHub, "`, `--") + "`.\n"
	generated("agent-based-hub.md").Hold(t, "agent-based", want)
}

// agentBasedTable is the table of its own settings, which no file has.
func agentBasedTable(rows []settings.Row) string {
	var text strings.Builder
	text.WriteString("| flag | environment | default | meaning |\n|---|---|---|---|\n")
	for _, r := range rows {
		value := ""
		if r.Default != "" {
			value = "`" + r.Default + "`"
		}
		fmt.Fprintf(&text, "| `--%s` | `%s` | %s | %s |\n", r.Flag, r.Env, value, r.Usage)
	}
	return text.String()
}

// edgeSettings are those of the flags.
func edgeSettings(t *testing.T, args ...string) *nodeZero {
	t.Helper()
	var s nodeZero
	flags := pflag.NewFlagSet("agent-based", pflag.ContinueOnError)
	settings.Bind(flags, s.table())
	NewWithT(t).Expect(flags.Parse(args)).To(Succeed())
	return &s
}

var edgeArgs = []string{
	"--service-base-url=http://192.0.2.10:8090/", "--infra-env-id=11111111-1111-4111-8111-111111111111", "--bootstrap-host-mac=02-00-00-00-00-0A",
}

func TestWhatAnAgentBasedHubRefuses(t *testing.T) {
	empty := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"all that is needed":      {nil, ""},
		"no URL":                  {[]string{"--service-base-url="}, "set --service-base-url or SERVICE_BASE_URL"},
		"no such URL":             {[]string{"--service-base-url=192.0.2.10"}, "is not a URL such as"},
		"no infra-env":            {[]string{"--infra-env-id="}, `--infra-env-id "" is not a UUID`},
		"no card":                 {[]string{"--bootstrap-host-mac="}, "node-zero.service writes it to /etc/assisted/node0"},
		"another authentication":  {[]string{"--auth-type=rhsso"}, `--auth-type "rhsso" is neither agent-installer-local nor none`},
		"nobody has to prove it":  {[]string{"--auth-type=none"}, ""},
		"another target":          {[]string{"--deploy-target=k8s"}, `--deploy-target "k8s"`},
		"another storage":         {[]string{"--storage=s3"}, `--storage "s3"`},
		"no key":                  {[]string{"--auth-public-key=x"}, "--auth-public-key: it is neither PEM nor PEM in base64"},
		"no folder":               {[]string{"--cluster-certificates-dir=/none"}, "--cluster-certificates-dir: "},
		"an empty folder":         {[]string{"--cluster-certificates-dir=" + empty}, "has no files"},
		"what no hub can do":      {[]string{"--hub-log-limit=0"}, "--hub-log-limit 0"},
		"no such host validation": {[]string{"--hub-disabled-host-validations=x"}, `no host validation "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := edgeSettings(t, append(slices.Clone(edgeArgs), tc.args...)...)
			err := s.complete()
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect([]string{s.hub.Host.MAC, s.Hub.PublishURL, s.Hub.PlainAddress, s.Hub.Address}).To(Equal([]string{"02:00:00:00:00:0a", "http://192.0.2.10:8090", ":8090", ""}))
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// TestAnAgentBasedHubReadsItsEnvironment, as the unit hands it in.
func TestAnAgentBasedHubReadsItsEnvironment(t *testing.T) {
	g := NewWithT(t)
	for name, value := range map[string]string{
		"SERVICE_BASE_URL": "https://192.0.2.10:8090/", "INFRA_ENV_ID": "11111111-1111-4111-8111-111111111111", "BOOTSTRAP_HOST_MAC": "02:00:00:00:00:0a",
		"AUTH_TYPE": "none", "DEPLOY_TARGET": "onprem", "STORAGE": "filesystem", "INSTALL_INVOKER": "somebody", "IRONFLOW_DATA_DIR": "/data",
	} {
		t.Setenv(name, value)
	}
	s := edgeSettings(t)
	g.Expect(s.complete()).To(Succeed())
	g.Expect([]string{s.Hub.Auth, s.hub.Invoker, s.Store.DataDir, s.Hub.Address, s.Hub.PlainAddress}).To(Equal([]string{"none", "somebody", "/data", ":8090", ""}))
	g.Expect(s.HubInstallation.Kubernetes).To(BeTrue(), "it needs nothing but the hub")
}

// TestAnAgentBasedHubServes without TLS and with the tokens that it has made, and again
// after it has ended.
func TestAnAgentBasedHubServes(t *testing.T) {
	g := NewWithT(t)
	dir, addr := t.TempDir(), free(g)
	var before map[string]string
	for range 2 {
		s := edgeSettings(t, append(slices.Clone(edgeArgs), "--service-base-url=http://"+addr, "--hub-addr="+addr, "--data-dir="+dir)...)
		g.Expect(s.complete()).To(Succeed())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- runAgentBased(ctx, *s) }()
		g.Eventually(get(addr)).Should(Equal(http.StatusOK))
		tokens, err := places.ReadEnv(hostfile.Dir{Root: dir}, "/"+localTokensFile)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(tokens).To(HaveLen(3))
		if before != nil {
			g.Expect(tokens).To(Equal(before), "hosts have them already")
		}
		before = tokens
		for header, code := range map[string]int{tokens[places.UserToken]: http.StatusOK, "": http.StatusUnauthorized, tokens[places.AgentToken]: http.StatusForbidden} {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/assisted-install/v2/clusters", http.NoBody)
			g.Expect(err).NotTo(HaveOccurred())
			r.Header.Set("Authorization", header)
			answer, err := http.DefaultClient.Do(r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.Body.Close()).To(Succeed())
			g.Expect(answer.StatusCode).To(Equal(code))
		}
		cancel()
		g.Expect(<-done).To(Or(Succeed(), MatchError(context.Canceled)))
	}
	info, err := os.Stat(filepath.Join(dir, localTokensFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
}

// TestAPassedOverCopyIsTold on the console of the host, whose messages the hub gets as events.
func TestAPassedOverCopyIsTold(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	tellPassedOver(t.Context(), dir, slog.New(slog.DiscardHandler), nil)
	g.Expect(os.ReadDir(dir.Root)).To(BeEmpty())
	tellPassedOver(t.Context(), dir, slog.New(slog.DiscardHandler), []string{"/dev/sda", "/dev/sdb"})
	g.Expect(os.ReadFile(dir.Path("/etc/motd.d/70_hub-state"))).To(BeEquivalentTo("The installation begins anew: the copy of the hub's state on /dev/sda, /dev/sdb is of an image with other settings, " +
		"and is not used. Boot all hosts from this image, also those that were installed before.\n"))
}

func TestCertificatesOfTheCluster(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(base64.StdEncoding.EncodeToString([]byte("x")))})
	g.Expect(os.MkdirAll(filepath.Join(dir, "etcd"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "ca.crt"), text, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "etcd", "ca.crt"), text, 0o600)).To(Succeed())
	g.Expect(readCertificates(dir)).To(Equal(map[string][]byte{"ca.crt": text, "etcd/ca.crt": text}))
	g.Expect(os.Symlink("/etc/passwd", filepath.Join(dir, "link"))).To(Succeed())
	_, err := readCertificates(dir)
	g.Expect(err).To(HaveOccurred(), "nothing outside of the folder")
}

// get asks at the address without TLS for the status of the hub's health, zero where nobody answers.
func get(addr string) func() int {
	return func() int {
		answer, err := http.Get("http://" + addr + "/health")
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
}

// free is an address that nobody uses.
func free(g *WithT) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	return l.Addr().String()
}
