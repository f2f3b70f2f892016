package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// offered are the words that a shell gets.
func (s *site) offered(words ...string) []string {
	s.t.Helper()
	out, _, err := command(s.t, "", append([]string{"__completeNoDesc", "--kubeconfig=" + s.kubeconfig}, words...)...)
	s.Expect(err).NotTo(HaveOccurred())
	var list []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ":") {
			list = append(list, line)
		}
	}
	return list
}

// TestCompletion offers commands, flags, their values, and names of what is there.
func TestCompletion(t *testing.T) {
	s := shown(t)
	for name, c := range map[string]struct {
		words []string
		want  []string
	}{
		"commands":              {[]string{"re"}, []string{"reboot", "release", "retry", "revoke-tokens"}},
		"kinds":                 {[]string{"get", ""}, []string{"agents", "clusters", "hosts"}},
		"hosts":                 {[]string{"get", "hosts", ""}, []string{"a", "b", "c"}},
		"one host, once":        {[]string{"events", "a", ""}, nil},
		"other hosts":           {[]string{"hold", "a", ""}, []string{"b", "c"}},
		"of another namespace":  {[]string{"reboot", "-n", "elsewhere", ""}, []string{"a"}},
		"clusters":              {[]string{"kubeconfig", "pr"}, []string{"prod", "prod-install"}},
		"agents":                {[]string{"why", "agent", ""}, []string{"node-0"}},
		"outputs":               {[]string{"get", "hosts", "-o", "js"}, []string{"json", "jsonpath="}},
		"phases":                {[]string{"wait", "a", "--for", "a"}, []string{"available"}},
		"contexts":              {[]string{"get", "hosts", "--context", ""}, []string{"lab", "other"}},
		"namespaces":            {[]string{"get", "hosts", "-n", "e"}, []string{"elsewhere"}},
		"flags":                 {[]string{"reboot", "--fo"}, []string{"--force"}},
		"hosts of bmc commands": {[]string{"bmc", "probe", "b"}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(s.offered(c.words...)).To(ConsistOf(toAny(c.want)...))
		})
	}
}

// TestCompletionWithoutACluster offers nothing, and says nothing.
func TestCompletionWithoutACluster(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	out, told, err := command(t, "", "__completeNoDesc", "why", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(ContainSubstring(":4"))
	g.Expect(told).NotTo(ContainSubstring("no cluster"))
}

// TestCompletionOfKubectl: the script that kubectl runs for plugins calls the program as cobra wants it.
func TestCompletionOfKubectl(t *testing.T) {
	s := newSite(t).rack()
	dir := t.TempDir()
	out, _, err := command(t, "", "completion", "kubectl")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(os.WriteFile(filepath.Join(dir, "kubectl_complete-ironflow"), []byte(out), 0o755)).To(Succeed())
	plugin(t, dir)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "kubectl_complete-ironflow"), "events", "")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "KUBECONFIG="+s.kubeconfig)
	told, err := cmd.Output()
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(string(told)).To(Equal("a\nb\nc\n:4\n"))
}

// plugin puts the program into a folder under its name: the test binary that runs as it.
func plugin(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	script := "#!/bin/sh\n" + asProgram + "=1 exec '" + self + "' \"$@\"\n"
	NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, "kubectl-ironflow"), []byte(script), 0o755)).To(Succeed())
}
