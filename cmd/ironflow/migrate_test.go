package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/migrate"
)

// TestMigrateRefuses holds what cannot be answered apart from what was found.
func TestMigrateRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no Ironic":            {nil, "set --ironic-endpoint"},
		"an unknown output":    {[]string{"--ironic-endpoint=https://ironic.example", "-o", "xml"}, "neither text nor json"},
		"no cluster":           {[]string{"--ironic-endpoint=https://ironic.example", "--kubeconfig=/nowhere"}, "set --kubeconfig"},
		"unknown devices":      {[]string{"--ironic-endpoint=https://ironic.example", "--live-iso-boot-device=never"}, "none of Default, Always, Never"},
		"a lone kernel":        {[]string{"--ironic-endpoint=https://ironic.example", "--deploy-kernel-url=http://images/kernel"}, "belong together"},
		"a word of no setting": {[]string{"--ironic-endpoint=https://ironic.example", "--live-nmstatectl=true"}, "neither auto, always nor never"},
		"a flag of run alone":  {[]string{"--metrics-addr=0"}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := newMigrateCommand()
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			cmd.SetArgs(append([]string{}, tc.args...))
			cmd.SetOut(io.Discard)
			NewWithT(t).Expect(cmd.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// TestTheOperatorsIronic finds the one Ironic of baremetal-operator, also where
// Ironflow is going to work with several.
func TestTheOperatorsIronic(t *testing.T) {
	const east, west = "- {name: east, url: 'https://east.example:6385', insecure: true}\n", "- {name: west, url: 'https://west.example'}\n"
	for name, c := range map[string]struct {
		file, endpoint, want, says string
	}{
		"no file":                {endpoint: "https://ironic.example", want: "https://ironic.example"},
		"a file with one":        {file: east, want: "https://east.example:6385"},
		"several, one is named":  {file: east + west, endpoint: "https://west.example/v1/", want: "https://west.example"},
		"several, none is named": {file: east + west, says: "baremetal-operator has one: name its URL with --ironic-endpoint"},
		"another is named":       {file: east + west, endpoint: "https://north.example", says: "lists no Ironic with the URL https://north.example"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := v1alpha1.Ironic{Endpoint: c.endpoint}
			if c.file != "" {
				s.EndpointsFile = filepath.Join(t.TempDir(), "endpoints.yaml")
				g.Expect(os.WriteFile(s.EndpointsFile, []byte(c.file), 0o600)).To(Succeed())
			}
			got, err := operatorsIronic(s)
			if c.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.URL).To(Equal(c.want))
			g.Expect(got.Insecure).To(Equal(c.file == east), "what the file says of the entry holds")
		})
	}
}

func TestVerdictIsTheExitCode(t *testing.T) {
	g := NewWithT(t)
	for code, r := range map[int]migrate.Report{
		0: {Verdict: "ready"}, 2: {Verdict: string(migrate.Warning)}, 3: {Verdict: string(migrate.Blocker)},
	} {
		g.Expect(r.ExitCode()).To(Equal(code))
		g.Expect(verdictError{code}.ExitCode()).To(Equal(code))
	}
}
