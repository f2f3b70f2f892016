package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/cli"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

// run runs a command in the order in which a user types it.
func run(ctx context.Context, args ...string) (string, error) {
	out, _, err := runBoth(ctx, args...)
	return out, err
}

// runBoth returns beside it what the user is told.
func runBoth(ctx context.Context, args ...string) (output, said string, err error) {
	c := cli.NewCommand()
	var out, told bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&told)
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	err = c.ExecuteContext(ctx)
	return out.String(), told.String(), err
}

// bench is a folder with a medium and a config.
func bench(t *testing.T, fixture string) (dir, medium, config string) {
	t.Helper()
	dir = t.TempDir()
	medium, config = filepath.Join(dir, "base.iso"), filepath.Join(dir, "config.ign")
	for file, data := range map[string][]byte{medium: coreosiso.Read(t, fixture), config: []byte(`{"ignition":{"version":"3.2.0"}}`)} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, medium, config
}

func TestEmbedShowReset(t *testing.T) {
	for _, fixture := range coreosiso.Names {
		t.Run(fixture, func(t *testing.T) {
			g := NewWithT(t)
			dir, medium, config := bench(t, fixture)
			one, two := filepath.Join(dir, "1.iso"), filepath.Join(dir, "2.iso")
			_, err := run(t.Context(), "show", "--ignition", medium)
			g.Expect(err).To(MatchError(embedarea.ErrNoIgnition))
			_, err = run(t.Context(), "embed", "--ignition", config, "-o", one, medium)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(run(t.Context(), "show", "--ignition", one)).To(Equal(`{"ignition":{"version":"3.2.0"}}`))
			g.Expect(run(t.Context(), "show", one)).To(ContainSubstring("config.ign"))
			_, err = run(t.Context(), "embed", "--ignition", config, "-o", two, one)
			g.Expect(err).To(MatchError(ContainSubstring("--force")))
			_, err = run(t.Context(), "embed", "--force", "--ignition", config, "-o", two, one)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = run(t.Context(), "reset", "-o", two, two)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := os.ReadFile(two)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(got, coreosiso.Read(t, fixture))).To(BeTrue())
		})
	}
}

func TestKargs(t *testing.T) {
	g := NewWithT(t)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	out := filepath.Join(dir, "1.iso")
	before, err := run(t.Context(), "kargs", "show", medium)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = run(t.Context(), "kargs", "set", "-a", "a=1", "-d", "mitigations=auto,nosmt", "-o", out, medium)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = run(t.Context(), "kargs", "set", "-r", "a=1=2", "-o", out, out)
	g.Expect(err).NotTo(HaveOccurred())
	after, err := run(t.Context(), "kargs", "show", out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(after).To(And(HaveSuffix(" a=2\n"), Not(ContainSubstring("mitigations"))))
	g.Expect(run(t.Context(), "kargs", "show", "--default", out)).To(Equal(before))
	_, err = run(t.Context(), "kargs", "set", "-d", "none", "-o", out, medium)
	g.Expect(err).To(MatchError(ContainSubstring("not there")))
}

func TestNetwork(t *testing.T) {
	g := NewWithT(t)
	dir, medium, config := bench(t, "2022-09")
	out, keyfile := filepath.Join(dir, "1.iso"), filepath.Join(dir, "eth0.nmconnection")
	g.Expect(os.WriteFile(keyfile, []byte("[connection]\n"), 0o600)).To(Succeed())
	_, err := run(t.Context(), "embed", "--ignition", config, "-o", out, medium)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = run(t.Context(), "network", "embed", "-k", keyfile, "-o", out, out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(run(t.Context(), "show", out)).To(And(ContainSubstring("config.ign"), ContainSubstring("eth0.nmconnection")))
	target := t.TempDir()
	_, err = run(t.Context(), "network", "extract", "-C", target, out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadFile(filepath.Join(target, "eth0.nmconnection"))).To(BeEquivalentTo("[connection]\n"))
	_, err = run(t.Context(), "network", "remove", "-o", out, out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(run(t.Context(), "show", out)).NotTo(ContainSubstring("eth0"))
}

func TestMinimalAndExtract(t *testing.T) {
	g := NewWithT(t)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	out, rootfs := filepath.Join(dir, "min.iso"), filepath.Join(dir, "rootfs")
	_, err := run(t.Context(), "minimal", "--rootfs-url", "http://x/rootfs.img", "--output-rootfs", rootfs, "-o", out, medium)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(run(t.Context(), "kargs", "show", out)).To(ContainSubstring("coreos.live.rootfs_url=http://x/rootfs.img"))
	g.Expect(rootfs).To(BeAnExistingFile())
	_, err = run(t.Context(), "extract", "-C", dir, medium)
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"vmlinuz", "initrd.img", "rootfs.img"} {
		g.Expect(filepath.Join(dir, name)).To(BeAnExistingFile())
	}
}

func TestInspect(t *testing.T) {
	g := NewWithT(t)
	_, medium, _ := bench(t, "2021-01")
	text, err := run(t.Context(), "inspect", "--files", medium)
	g.Expect(err).NotTo(HaveOccurred())
	var got map[string]any
	g.Expect(json.Unmarshal([]byte(text), &got)).To(Succeed())
	g.Expect(got).To(And(
		HaveKeyWithValue("volume_id", "rhcos-47.84.202112162337-0"),
		HaveKeyWithValue("ignition", HaveKeyWithValue("offset", 96256.0)),
		HaveKeyWithValue("kargs", HaveKeyWithValue("source", "header")),
		HaveKeyWithValue("can_be_minimal", true),
		HaveKeyWithValue("files", HaveKey("images/ignition.img")),
	))
}

func TestBadInputIsExplained(t *testing.T) {
	dir, medium, config := bench(t, "2020-09")
	for _, name := range []string{"eno1", "eno1.nmconnection"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("[connection]"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		args []string
		want string
	}{
		"no file":          {[]string{"show", filepath.Join(dir, "none")}, "no such file"},
		"not an ISO":       {[]string{"show", config}, "not a usable ISO"},
		"no output":        {[]string{"reset", medium}, "output"},
		"no kargs":         {[]string{"kargs", "show", medium}, "no kernel-argument support"},
		"not minimal":      {[]string{"minimal", "--rootfs-url", "http://x/y", "-o", filepath.Join(dir, "x"), medium}, "no kernel-argument support"},
		"no hosts":         {[]string{"serve", "--base", medium, "--hosts", t.TempDir(), "--listen", "127.0.0.1:0"}, "no image to serve"},
		"short key":        {[]string{"serve", "--base", medium, "--hosts", dir, "--signing-key", config}, "at least 32"},
		"nothing to embed": {[]string{"network", "embed", "-o", filepath.Join(dir, "x"), medium}, `"keyfile" not set`},
		"two keyfiles of one name": {
			[]string{"pxe", "network", "wrap", "-k", filepath.Join(dir, "eno1.nmconnection"), "-k", filepath.Join(dir, "eno1"), "-o", filepath.Join(dir, "x")},
			"two keyfiles are named eno1.nmconnection",
		},
		"an address that no BMC can reach": {[]string{"serve", "--base", medium, "--hosts", dir, "--listen", ":0"}, "say by --url which one BMCs reach"},
		"bad listening":                    {[]string{"serve", "--base", medium, "--hosts", dir, "--listen", "256.0.0.1:1"}, "choose another address"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if name == "short key" {
				NewWithT(t).Expect(os.WriteFile(config, []byte("short"), 0o600)).To(Succeed())
			}
			_, err := run(t.Context(), tc.args...)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestServeWithoutACluster(t *testing.T) {
	g := NewWithT(t)
	dir, medium, config := bench(t, "2023-07.x86_64")
	hosts := filepath.Join(dir, "hosts")
	g.Expect(os.MkdirAll(filepath.Join(hosts, "a"), 0o755)).To(Succeed())
	raw, err := os.ReadFile(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(hosts, "a.ign"), raw, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(hosts, "a", "eth0.nmconnection"), []byte("[x]\n"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(hosts, "a.yaml"), []byte("interfaces: [{name: eth1, ipv4: {enabled: true, dhcp: true}}]"), 0o600)).To(Succeed())

	g.Expect(os.WriteFile(filepath.Join(hosts, "b.json"), []byte(`{"links":[{"id":"eth9","type":"phy"}],"networks":[{"link":"eth9","type":"ipv4_dhcp"}]}`), 0o600)).To(Succeed())

	g.Expect(os.WriteFile(filepath.Join(hosts, "c.yaml"), []byte("interfaces: [{name: m0, type: mac-vlan}]"), 0o600)).To(Succeed())

	ctx, cancel := context.WithCancel(t.Context())
	c := cli.NewCommand()
	reader, writer := io.Pipe()
	c.SetOut(writer)
	c.SetArgs([]string{"serve", "--base", medium, "--hosts", hosts, "--listen", "127.0.0.1:0"})
	done := make(chan error, 1)
	go func() { done <- c.ExecuteContext(ctx) }()
	line := make([]byte, 512)
	n, err := reader.Read(line)
	g.Expect(err).NotTo(HaveOccurred())
	name, url, _ := strings.Cut(strings.TrimSpace(string(line[:n])), " ")
	g.Expect(name).To(Equal("a"))
	more := make([]byte, 512)
	n, err = reader.Read(more)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(more[:n])).To(HavePrefix("b http"), "network settings alone make a host")
	third := make([]byte, 512)
	n, err = reader.Read(third)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(third[:n])).To(And(HavePrefix("c: "), ContainSubstring("interfaces[0].type"), ContainSubstring("older than the first release")))
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	resp, err := client.Do(req)
	g.Expect(err).NotTo(HaveOccurred())
	image, err := io.ReadAll(resp.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(resp.Body.Close()).To(Succeed())
	content, err := liveimage.Content(bytes.NewReader(image), int64(len(image)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content.Ignition).To(Equal(raw))
	g.Expect(content.Keyfiles).To(And(HaveKey("eth0.nmconnection"), HaveKey("eth1.nmconnection")))
	cancel()
	g.Eventually(done, time.Minute).Should(Receive(BeNil()))
}

// TestNetworkCheck: the ways of a folder's descriptions, with and without a base image.
func TestNetworkCheck(t *testing.T) {
	g := NewWithT(t)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	folder := filepath.Join(dir, "fleet")
	g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	write := func(name, document string) {
		g.Expect(os.WriteFile(filepath.Join(folder, name), []byte(document), 0o600)).To(Succeed())
	}
	_, err := run(t.Context(), "network", "check", folder)
	g.Expect(err).To(MatchError(ContainSubstring("no description of a network")))
	write("a.yaml", "interfaces: [{name: eth0}]")
	write("b.yaml", "interfaces: [{name: m0, type: mac-vlan}]")
	out, err := run(t.Context(), "network", "check", folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(And(MatchRegexp(`(?m)^translated +a.yaml`), MatchRegexp(`(?m)^nmstatectl in the live system +b.yaml +interfaces\[0\].type`),
		ContainSubstring("1 translated, 1 by nmstatectl in the live system, 0 refused"), ContainSubstring("name the base image by --base")))
	out, err = run(t.Context(), "network", "check", "--live-nmstatectl", "never", folder)
	g.Expect(err).To(MatchError("1 of 2 descriptions are refused"))
	g.Expect(out).To(And(MatchRegexp(`(?m)^refused +b.yaml +interfaces\[0\].type.*--live-nmstatectl=never`), Not(ContainSubstring("name the base image by --base"))))
	out, err = run(t.Context(), "network", "check", "--live-nmstatectl", "always", "--base", medium, folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(ContainSubstring("1 translated, 1 by nmstatectl in the live system, 0 refused"))
	_, err = run(t.Context(), "network", "check", "--live-nmstatectl", "sometimes", folder)
	g.Expect(err).To(MatchError(ContainSubstring("neither auto, always nor never")))
	out, err = run(t.Context(), "network", "check", "--base", medium, folder)
	g.Expect(err).To(MatchError("1 of 2 descriptions are refused"))
	g.Expect(out).To(And(MatchRegexp(`(?m)^refused +b.yaml +interfaces\[0\].type.*older than the first release`), Not(ContainSubstring("name the base image by --base"))))
}
