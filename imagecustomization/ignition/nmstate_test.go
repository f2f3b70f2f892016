package ignition_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestTheScriptThatRunsNmstatectl with the bash of this machine: it applies the
// documents of this machine, tries again, and says on the console's issue why there is
// no network.
func TestTheScriptThatRunsNmstatectl(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing: apt install bash")
	}
	const asked = "#!/bin/bash\necho \"$@\" >> \"$ASKED\"\n"
	tries := strings.Repeat("apply all.yml\n", 6)
	for name, tc := range map[string]struct {
		program string // what nmstatectl is, empty for none
		cards   []string
		applied string
		issue   string
		named   bool
		refused string // why the machine with one of its cards has no network
		late    string // a card that is there after the first look only
	}{
		"one of its cards":    {asked, []string{"00:00:00:00:00:00", "52:54:00:00:00:0a"}, "apply all.yml\napply mine.yml\n", "", true, "", ""},
		"left out":            {asked, []string{"52:54:00:00:00:0a"}, "", "interfaces[0].mtu: no number", true, "interfaces[0].mtu: no number", ""},
		"none of its cards":   {asked, []string{"52:54:00:00:00:0b"}, "apply all.yml\n", "", false, "of another machine", ""},
		"one that comes late": {asked, []string{"52:54:00:00:00:0b"}, "apply all.yml\napply mine.yml\n", "", true, "", "52:54:00:00:00:0a"},
		"the card comes late": {asked + "[ $(wc -l < \"$ASKED\") -gt 2 ]\n", nil, "apply all.yml\napply all.yml\napply all.yml\n", "", false, "", ""},
		"refused": {
			asked + "echo trace >&2\necho 'NmstateError: no such bond\\x1b' >&2\nexit 1\n", nil, tries, "all.yml: NmstateError: no such bondx1b; see: journalctl -u ironflow-nmstate.service", false, "", "",
		},
		"a secret":      {asked + "echo 'invalid psk: hunter2'\nexit 1\n", nil, tries, "all.yml: its message may have a secret;", false, "", ""},
		"no nmstatectl": {"", nil, "", "this live system has no nmstatectl", false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := t.TempDir()
			write := func(name, content string, mode os.FileMode) string {
				file := filepath.Join(root, name)
				g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(file, []byte(content), mode)).To(Succeed())
				return file
			}
			write("documents/all.yml", "{}", 0o600)
			write("documents/mine.yml", "{}", 0o600)
			write("documents/mine.cards", "52:54:00:00:00:09\n52:54:00:00:00:0A\n", 0o600)
			if tc.refused != "" {
				write("documents/mine.refused", tc.refused+"\n", 0o600)
			}
			for i, mac := range tc.cards {
				write(filepath.Join("net", "eth"+string(rune('0'+i)), "address"), mac+"\n", 0o644)
			}
			for _, program := range []string{"mkdir", "sleep", "rm", "wc"} {
				path, err := exec.LookPath(program)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(os.MkdirAll(filepath.Join(root, "bin"), 0o755)).To(Succeed())
				g.Expect(os.Symlink(path, filepath.Join(root, "bin", program))).To(Succeed())
			}
			if tc.program != "" {
				write("bin/nmstatectl", tc.program, 0o755)
			}
			if tc.late != "" {
				g.Expect(os.Remove(filepath.Join(root, "bin", "sleep"))).To(Succeed())
				write("bin/sleep", "#!/bin/bash\nmkdir -p \"$LATE\" && echo "+tc.late+" > \"$LATE/address\"\n", 0o755)
			}
			write("documents/mine.hostname", "node-1\n", 0o644)
			write("bin/hostnamectl", "#!/bin/bash\necho \"$2\" > \"$ASKED.name\"\n", 0o755)
			asked, issue := write("asked", "", 0o600), filepath.Join(root, "issue", "network.issue")
			script := exec.CommandContext(t.Context(), bash, "nmstate.sh", filepath.Join(root, "documents"), filepath.Join(root, "net"), issue)
			script.Env = []string{"PATH=" + filepath.Join(root, "bin"), "ASKED=" + asked, "PAUSE=0.01", "LATE=" + filepath.Join(root, "net", "eth9")}
			said, err := script.CombinedOutput()
			why, _ := os.ReadFile(issue) // missing: it was well
			if tc.issue == "" {
				g.Expect(err).NotTo(HaveOccurred(), string(said))
				g.Expect(why).To(BeEmpty())
			} else {
				g.Expect(err).To(HaveOccurred())
				g.Expect(string(why)).To(And(HavePrefix("The network is not set up: "), ContainSubstring(tc.issue)))
				g.Expect(string(said)).To(ContainSubstring(tc.issue), "for the journal")
			}
			named, _ := os.ReadFile(asked + ".name") // missing: another machine's
			g.Expect(string(named) == "node-1\n").To(Equal(tc.named))
			got, err := os.ReadFile(asked)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.ReplaceAll(string(got), filepath.Join(root, "documents")+"/", "")).To(Equal(tc.applied))
		})
	}
}
