package ignition_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/ignition"
)

func directory(t *testing.T, files map[string]string) ignition.Directory {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return ignition.Directory{Root: root}
}

const motd = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`

func TestRender(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		host  ignition.Host
		want  []string
		err   string
	}{
		"nothing given is a minimal system": {
			nil,
			ignition.Host{Role: "master", Hostname: "a.example", SSHKey: "ssh-ed25519 AAAA"},
			[]string{`"/etc/hostname"`, "data:,a.example", "ssh-ed25519 AAAA"},
			"",
		},
		"the role's file": {
			map[string]string{"worker.ign": motd, "master.ign": "{}"}, ignition.Host{Role: "worker"}, []string{"/etc/motd"}, "",
		},
		"the cluster's own file comes first": {
			map[string]string{"worker.ign": "not json", "c1/worker.ign": motd}, ignition.Host{ClusterID: "c1", Role: "worker"}, []string{"/etc/motd"}, "",
		},
		"the override wins": {
			map[string]string{"worker.ign": motd},
			ignition.Host{Role: "worker", Override: `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,mine"}}]}}`},
			[]string{"data:,mine"},
			"",
		},
		"a broken file names itself": {
			map[string]string{"worker.ign": "not json"}, ignition.Host{Role: "worker"}, nil, "worker.ign",
		},
		"a broken override names itself": {
			nil, ignition.Host{Role: "worker", Override: `{"ignition":{"version":"9.9.9"}}`}, nil, "override of the host",
		},
		"a role cannot leave the folder": {
			nil, ignition.Host{Role: "../../etc/passwd"}, nil, "without folders",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := ignition.Render(t.Context(), directory(t, tc.files), tc.host)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			for _, want := range tc.want {
				g.Expect(string(raw)).To(ContainSubstring(want))
			}
			g.Expect(ignition.Valid(string(raw))).To(Succeed(), "the result must be Ignition itself")
		})
	}
}

// TestTheOldestVersionThatSaysAll: a system whose engine is older than the version
// does not boot, so that nobody is asked for more than the inputs do.
func TestTheOldestVersionThatSaysAll(t *testing.T) {
	const head = `{"ignition":{"version":"3.5.0"}`
	for name, tc := range map[string]struct {
		file, override, want string
	}{
		"nothing given":                   {"", "", "3.2.0"},
		"old files":                       {`{"ignition":{"version":"3.0.0"}}`, `{"ignition":{"version":"3.1.0"}}`, "3.2.0"},
		"a new version that uses nothing": {head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`, "", "3.2.0"},
		"kernel arguments are of 3.3":     {head + `,"kernelArguments":{"shouldExist":["quiet"]}}`, "", "3.3.0"},
		"special mode bits are of 3.4":    {"", head + `,"storage":{"files":[{"path":"/bin/su","mode":2541,"contents":{"source":"data:,x"}}]}}`, "3.4.0"},
		"LUKS without discard is of 3.2":  {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb"}]}}`, "", "3.2.0"},
		"LUKS with discard is of 3.4":     {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","discard":true}]}}`, "", "3.4.0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files := map[string]string{}
			if tc.file != "" {
				files["master.ign"] = tc.file
			}
			raw, err := ignition.Render(t.Context(), directory(t, files), ignition.Host{Role: "master", Hostname: "a", SSHKey: "ssh-ed25519 AAAA", Override: tc.override})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(raw)).To(ContainSubstring(`"version":"` + tc.want + `"`))
			g.Expect(ignition.Valid(string(raw))).To(Succeed())
		})
	}
}

func TestValid(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ignition.Valid("")).To(Succeed())
	g.Expect(ignition.Valid(`{"ignition":{"version":"3.0.0"}}`)).To(Succeed())
	g.Expect(ignition.Valid(`{"ignition":{}}`)).NotTo(Succeed())
	g.Expect(ignition.Valid(`rm -rf`)).NotTo(Succeed())
}

func TestNoFolderMeansNoFiles(t *testing.T) {
	_, err := ignition.Directory{}.Role(t.Context(), "c", "master.ign")
	NewWithT(t).Expect(err).To(MatchError(ignition.ErrNone))
}
