package ignition_test

import (
	"cmp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

const motd = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`

// base is a configuration of a source.
const base = `{"ignition":{"version":"3.6.0"},"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAA"]}]}}`

func TestFinish(t *testing.T) {
	const mine = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,mine"}}]}}`
	for name, tc := range map[string]struct {
		base, name, override string
		want                 []string
		err                  string
	}{
		"the name is added":              {base, "a.example", "", []string{`"/etc/hostname"`, "data:,a.example", "ssh-ed25519 AAAA"}, ""},
		"no name is left to the system":  {motd, "", "", []string{"/etc/motd"}, ""},
		"the override wins":              {motd, "a", mine, []string{"data:,mine", "data:,a"}, ""},
		"a base that is none":            {"not json", "a", "", nil, "invalid"},
		"a base that is empty":           {"", "a", "", nil, "empty"},
		"a broken override names itself": {base, "", `{"ignition":{"version":"9.9.9"}}`, nil, "override of the host"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := ignition.Finish([]byte(tc.base), tc.name, tc.override)
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
		"nothing given":                   {"", "", "3.2.0"},
		"old files":                       {`{"ignition":{"version":"3.0.0"}}`, `{"ignition":{"version":"3.1.0"}}`, "3.2.0"},
		"a new version that uses nothing": {head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`, "", "3.2.0"},
		"headers and compression are of 3.1": {
			head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"https://a/b.gz","compression":"gzip","httpHeaders":[{"name":"A","value":"b"}],"verification":{"hash":"` + hash + `"}}}]}}`,
			"", "3.2.0",
		},
		"proxies and merges are of 3.1": {
			`{"ignition":{"version":"3.5.0","config":{"merge":[{"source":"https://a/c","httpHeaders":[{"name":"A","value":"b"}]}]},
				"proxy":{"httpsProxy":"https://p","noProxy":["a"]},"security":{"tls":{"certificateAuthorities":[{"source":"data:,x"}]}},"timeouts":{"httpTotal":5}}}`,
			"", "3.2.0",
		},
		"links, volumes and partitions of 3.2": {
			head + `,"storage":{"links":[{"path":"/etc/l","target":"/etc/motd","hard":false}],
				"raid":[{"name":"md","level":"raid1","devices":["/dev/vdb","/dev/vdc"],"spares":0}],
				"disks":[{"device":"/dev/vdd","wipeTable":true,"partitions":[{"number":1,"label":"a","startMiB":0,"sizeMiB":10,"wipePartitionEntry":true}]}],
				"filesystems":[{"device":"/dev/vde","format":"xfs","path":"/var","mountOptions":["noatime"],"options":["-K"]}]}}`,
			"", "3.2.0",
		},
		"users and units of 3.2": {
			head + `,"passwd":{"users":[{"name":"core","shouldExist":true,"uid":7,"system":false,"groups":["wheel"]}],"groups":[{"name":"g","gid":0,"shouldExist":false}]},
				"systemd":{"units":[{"name":"a.service","enabled":false,"mask":true,"contents":"","dropins":[{"name":"a.conf"}]}]}}`,
			"", "3.2.0",
		},
		"appended contents":              {head + `,"storage":{"files":[{"path":"/etc/motd","append":[{"source":"data:,x"}]}]}}`, "", "3.2.0"},
		"kernel arguments are of 3.3":    {head + `,"kernelArguments":{"shouldExist":["quiet"]}}`, "", "3.3.0"},
		"a file system of format none":   {head + `,"storage":{"filesystems":[{"device":"/dev/vdb","format":"none"}]}}`, "", "3.3.0"},
		"special mode bits are of 3.6":   {"", newest + `,"storage":{"files":[{"path":"/bin/su","mode":2541,"contents":{"source":"data:,x"}}]}}`, "3.6.0"},
		"a sticky folder":                {"", newest + `,"storage":{"directories":[{"path":"/var/t","mode":1023}]}}`, "3.6.0"},
		"the newest version without any": {newest + `,"storage":{"directories":[{"path":"/var/t","mode":511}]}}`, "", "3.2.0"},
		"LUKS without discard is of 3.2": {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb"}]}}`, "", "3.2.0"},
		"LUKS by Tang is of 3.2": {
			head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","keyFile":{"source":"data:,k"},"wipeVolume":true,"options":["--pbkdf"],
				"clevis":{"tpm2":true,"threshold":1,"tang":[{"url":"https://t","thumbprint":"x"}]}}]}}`,
			"", "3.2.0",
		},
		"LUKS by a pin of one's own":  {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","clevis":{"custom":{"pin":"sss","config":"{}","needsNetwork":true}}}]}}`, "", "3.2.0"},
		"LUKS with discard is of 3.4": {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","discard":true}]}}`, "", "3.4.0"},
		"LUKS with options to open":   {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","openOptions":["--perf-no_read_workqueue"]}]}}`, "", "3.4.0"},
		"Tang offline is of 3.4": {
			head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","clevis":{"tang":[
				{"url":"https://t","thumbprint":"x","advertisement":"{\"payload\":\"eyJrZXlzIjpbXX0\",\"protected\":\"e30\",\"signature\":\"eA\"}"}]}}]}}`,
			"", "3.4.0",
		},
		"an access point of S3 is of 3.4": {
			head + `,"storage":{"files":[{"path":"/etc/motd","contents":{"source":"arn:aws:s3:us-west-1:123456789012:accesspoint/test/object/some/path"}}]}}`, "",
			"3.4.0",
		},
		"keys in CEX are of 3.5": {head + `,"storage":{"luks":[{"name":"data","device":"/dev/vdb","cex":{"enabled":true}}]}}`, "", "3.5.0"},
		"old and new together": {
			`{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`,
			head + `,"kernelArguments":{"shouldNotExist":["quiet"]}}`, "3.3.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := ignition.Finish([]byte(cmp.Or(tc.file, base)), "a", tc.override)
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
			_, err := ignition.Finish([]byte(text), "", "")
			g.Expect(err).To(MatchError(ContainSubstring(tc.where)))
			newest := strings.Replace(text, tc.version, "3.6.0", 1)
			g.Expect(ignition.Valid(newest)).To(Succeed())
			raw, err := ignition.Finish([]byte(newest), "", "")
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
	for from, override := range map[string]string{file: "", `{"ignition":{"version":"3.6.0"}}`: file} {
		raw, err := ignition.Finish([]byte(from), "", override)
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
			_, err := ignition.Finish([]byte(tc.file), "", tc.override)
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
