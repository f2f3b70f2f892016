package ignition_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/test/ignitioncheck"
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
			ignitioncheck.Valid(t, raw)
		})
	}
}

// TestTheOldestVersionThatSaysAll: a system whose engine is older than the version
// does not boot, so that nobody is asked for more than the inputs do.
func TestTheOldestVersionThatSaysAll(t *testing.T) {
	const newest = `{"ignition":{"version":"3.6.0"}`
	const head, hash = `{"ignition":{"version":"3.5.0"}`, "sha512-cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
	for name, tc := range map[string]struct {
		file, override, want string
	}{
		"nothing given":                        {"", "", "3.2.0"},
		"old files":                            {`{"ignition":{"version":"3.0.0"}}`, `{"ignition":{"version":"3.1.0"}}`, "3.2.0"},
		"a new version that uses nothing":      {head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`, "", "3.2.0"},
		"headers and compression are of 3.1":   {head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"https://a/b.gz","compression":"gzip","httpHeaders":[{"name":"A","value":"b"}],"verification":{"hash":"` + hash + `"}}}]}}`, "", "3.2.0"},
		"proxies and merges are of 3.1":        {`{"ignition":{"version":"3.5.0","config":{"merge":[{"source":"https://a/c","httpHeaders":[{"name":"A","value":"b"}]}]},"proxy":{"httpsProxy":"https://p","noProxy":["a"]},"security":{"tls":{"certificateAuthorities":[{"source":"data:,x"}]}},"timeouts":{"httpTotal":5}}}`, "", "3.2.0"},
		"links, volumes and partitions of 3.2": {head + `,"storage":{"links":[{"path":"/etc/l","target":"/etc/motd","hard":false}],"raid":[{"name":"md","level":"raid1","devices":["/dev/vdb","/dev/vdc"],"spares":0}],"disks":[{"device":"/dev/vdd","wipeTable":true,"partitions":[{"number":1,"label":"a","startMiB":0,"sizeMiB":10,"wipePartitionEntry":true}]}],"filesystems":[{"device":"/dev/vde","format":"xfs","path":"/var","mountOptions":["noatime"],"options":["-K"]}]}}`, "", "3.2.0"},
		"users and units of 3.2":               {head + `,"passwd":{"users":[{"name":"core","shouldExist":true,"uid":7,"system":false,"groups":["wheel"]}],"groups":[{"name":"g","gid":0,"shouldExist":false}]},"systemd":{"units":[{"name":"a.service","enabled":false,"mask":true,"contents":"","dropins":[{"name":"a.conf"}]}]}}`, "", "3.2.0"},
		"appended contents":                    {head + `,"storage":{"files":[{"path":"/etc/motd","append":[{"source":"data:,x"}]}]}}`, "", "3.2.0"},
		"kernel arguments are of 3.3":          {head + `,"kernelArguments":{"shouldExist":["quiet"]}}`, "", "3.3.0"},
		"a file system of format none":         {head + `,"storage":{"filesystems":[{"device":"/dev/vdb","format":"none"}]}}`, "", "3.3.0"},
		"special mode bits are of 3.6":         {"", newest + `,"storage":{"files":[{"path":"/bin/su","mode":2541,"contents":{"source":"data:,x"}}]}}`, "3.6.0"},
		"a sticky folder":                      {"", newest + `,"storage":{"directories":[{"path":"/var/t","mode":1023}]}}`, "3.6.0"},
		"the newest version without any":       {newest + `,"storage":{"directories":[{"path":"/var/t","mode":511}]}}`, "", "3.2.0"},
		"LUKS without discard is of 3.2":       {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb"}]}}`, "", "3.2.0"},
		"LUKS by Tang is of 3.2":               {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","keyFile":{"source":"data:,k"},"wipeVolume":true,"options":["--pbkdf"],"clevis":{"tpm2":true,"threshold":1,"tang":[{"url":"https://t","thumbprint":"x"}]}}]}}`, "", "3.2.0"},
		"LUKS by a pin of one's own":           {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","clevis":{"custom":{"pin":"sss","config":"{}","needsNetwork":true}}}]}}`, "", "3.2.0"},
		"LUKS with discard is of 3.4":          {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","discard":true}]}}`, "", "3.4.0"},
		"LUKS with options to open":            {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","openOptions":["--perf-no_read_workqueue"]}]}}`, "", "3.4.0"},
		"Tang offline is of 3.4":               {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","clevis":{"tang":[{"url":"https://t","thumbprint":"x","advertisement":"{\"payload\":\"eyJrZXlzIjpbXX0\",\"protected\":\"e30\",\"signature\":\"eA\"}"}]}}]}}`, "", "3.4.0"},
		"an access point of S3 is of 3.4":      {head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"arn:aws:s3:us-west-1:123456789012:accesspoint/test/object/some/path"}}]}}`, "", "3.4.0"},
		"keys in CEX are of 3.5":               {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","cex":{"enabled":true}}]}}`, "", "3.5.0"},
		"old and new together":                 {`{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`, head + `,"kernelArguments":{"shouldNotExist":["quiet"]}}`, "3.3.0"},
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
			ignitioncheck.Valid(t, raw)
		})
	}
}

// TestBitsThatIgnitionDrops: a configuration of a version that has no such bits is refused
// when it is written, and when it is rendered, rather than installed without them.
func TestBitsThatIgnitionDrops(t *testing.T) {
	for name, tc := range map[string]struct{ version, storage, where string }{
		"a program with its owner's rights": {"3.2.0", `"files":[{"path":"/bin/a"},{"path":"/bin/su","mode":2541}]`, "storage.files.1.mode: Ignition drops"},
		"a folder of the group":             {"3.5.0", `"directories":[{"path":"/srv/g","mode":1533}]`, "storage.directories.0.mode: Ignition drops"},
		"a sticky folder":                   {"3.4.0", `"directories":[{"path":"/var/t","mode":1023}]`, "storage.directories.0.mode: Ignition drops"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			text := `{"ignition":{"version":"` + tc.version + `"},"storage":{` + tc.storage + `}}`
			g.Expect(ignition.Valid(text)).To(MatchError(And(ContainSubstring(tc.where), ContainSubstring("older than 3.6.0"))))
			_, err := ignition.Render(t.Context(), directory(t, map[string]string{"master.ign": text}), ignition.Host{Role: "master"})
			g.Expect(err).To(MatchError(And(ContainSubstring("master.ign: "), ContainSubstring(tc.where))))
			newest := strings.Replace(text, tc.version, "3.6.0", 1)
			g.Expect(ignition.Valid(newest)).To(Succeed())
			raw, err := ignition.Render(t.Context(), directory(t, map[string]string{"master.ign": newest}), ignition.Host{Role: "master"})
			g.Expect(err).NotTo(HaveOccurred())
			ignitioncheck.Valid(t, raw)
		})
	}
}

// TestOldFilesKeepEveryMember: what is read in an older version is translated to the newest.
func TestOldFilesKeepEveryMember(t *testing.T) {
	g := NewWithT(t)
	const file = `{"ignition":{"version":"3.4.0"},"storage":{"luks":[{"name":"data","device":"/dev/vdb","discard":true,"openOptions":["--x"],` +
		`"clevis":{"tang":[{"url":"https://t","thumbprint":"x","advertisement":"{\"payload\":\"x\"}"}]}}]}}`
	for _, files := range []map[string]string{{"master.ign": file}, nil} {
		host := ignition.Host{Role: "master"}
		if files == nil {
			host.Override = file
		}
		raw, err := ignition.Render(t.Context(), directory(t, files), host)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(raw).To(MatchJSON(file))
	}
}

// TestAMergeThatIsInvalidIsRefused: each part may be fine alone, and the whole not; a
// host that is given it does not boot.
func TestAMergeThatIsInvalidIsRefused(t *testing.T) {
	const head = `{"ignition":{"version":"3.5.0"}`
	for name, tc := range map[string]struct{ file, override string }{
		"a file below a link": {head + `,"storage":{"files":[{"path":"/etc/a/b"}]}}`, head + `,"storage":{"links":[{"path":"/etc/a","target":"/etc/b"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(ignition.Valid(tc.file)).To(Succeed())
			g.Expect(ignition.Valid(tc.override)).To(Succeed())
			_, err := ignition.Render(t.Context(), directory(t, map[string]string{"master.ign": tc.file}), ignition.Host{Role: "master", Override: tc.override})
			g.Expect(err).To(MatchError(ContainSubstring("override")))
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
