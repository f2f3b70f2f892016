package ignition_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

const tang = `[{"url":"http://tang.example","thumbprint":"abc"},{"URL":"https://192.0.2.9:7500","Thumbprint":"def"}]`

const empty = `{"ignition":{"version":"3.1.0"}}`

const filesystem = `"filesystems":[{"device":"/dev/mapper/root","format":"xfs","label":"root","wipeFilesystem":true}]`

func TestTheRootIsEncrypted(t *testing.T) {
	file := func(storage string) string {
		return `{"ignition":{"version":"3.2.0"},"storage":{` + storage + `}}`
	}
	for name, tc := range map[string]struct {
		file       string
		encryption ignition.Encryption
		override   string
		want, err  string
	}{
		"a TPM": {empty, ignition.Encryption{Mode: "tpmv2"}, "", `{"ignition":{"version":"3.2.0"},"storage":{` + filesystem + `,
			"luks":[{"name":"root","label":"luks-root","device":"/dev/disk/by-partlabel/root","wipeVolume":true,"clevis":{"tpm2":true}}]}}`, ""},
		"Tang servers, beside what the role has": {
			file(`"files":[{"path":"/etc/motd"}]`),
			ignition.Encryption{Mode: "tang", TangServers: tang},
			"",
			`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd"}],` + filesystem + `,
			"luks":[{"name":"root","label":"luks-root","device":"/dev/disk/by-partlabel/root","wipeVolume":true,
			"clevis":{"tang":[{"url":"http://tang.example","thumbprint":"abc"},{"url":"https://192.0.2.9:7500","thumbprint":"def"}]}}]}}`, "",
		},
		"a role that encrypts it already": {
			file(`"luks":[{"name":"root","device":"/dev/disk/by-partlabel/root","clevis":{"tpm2":true}}]`),
			ignition.Encryption{Mode: "tang", TangServers: tang},
			"",
			`{"ignition":{"version":"3.2.0"},"storage":{"luks":[{"name":"root","device":"/dev/disk/by-partlabel/root","clevis":{"tpm2":true}}]}}`, "",
		},
		"the host's own settings come last": {
			empty,
			ignition.Encryption{Mode: "tpmv2"},
			`{"ignition":{"version":"3.2.0"},"storage":{"luks":[{"name":"root","device":"/dev/disk/by-partlabel/root","label":"mine"}]}}`,
			`{"ignition":{"version":"3.2.0"},"storage":{` + filesystem + `,
			"luks":[{"name":"root","label":"mine","device":"/dev/disk/by-partlabel/root","wipeVolume":true,"clevis":{"tpm2":true}}]}}`, "",
		},
		"a file system of the role's choice": {
			file(`"filesystems":[{"device":"/dev/mapper/root","format":"ext4","label":"root","wipeFilesystem":true}]`),
			ignition.Encryption{Mode: "tpmv2"},
			"",
			`{"ignition":{"version":"3.2.0"},"storage":{` + strings.Replace(filesystem, "xfs", "ext4", 1) + `,
			"luks":[{"name":"root","label":"luks-root","device":"/dev/disk/by-partlabel/root","wipeVolume":true,"clevis":{"tpm2":true}}]}}`, "",
		},
		"a role that makes the root itself": {
			file(`"filesystems":[{"device":"/dev/disk/by-partlabel/root","format":"ext4","wipeFilesystem":true}]`),
			ignition.Encryption{Mode: "tpmv2"},
			"",
			"", "disk encryption: the configuration makes the root file system on /dev/disk/by-partlabel/root",
		},
		"nothing asked for":          {motd, ignition.Encryption{}, "", strings.Replace(motd, "3.1.0", "3.2.0", 1), ""},
		"a file that is no Ignition": {"{}", ignition.Encryption{Mode: "tpmv2"}, "", "", "version"},
		"no such mode":               {empty, ignition.Encryption{Mode: "rot13"}, "", "", `disk encryption: mode "rot13": want tpmv2 or tang`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := ignition.Encrypt([]byte(tc.file), tc.encryption)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			raw, err = ignition.Finish(raw, "", tc.override)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(raw).To(MatchJSON(tc.want))
			ignitioncheck.Valid(t, raw)
		})
	}
}

func TestEncryptionThatCannotBeDone(t *testing.T) {
	for name, tc := range map[string]struct {
		encryption ignition.Encryption
		want       string
	}{
		"a TPM":                   {ignition.Encryption{Mode: "tpmv2"}, ""},
		"Tang servers":            {ignition.Encryption{Mode: "tang", TangServers: tang}, ""},
		"no mode":                 {ignition.Encryption{}, `mode ""`},
		"servers for a TPM":       {ignition.Encryption{Mode: "tpmv2", TangServers: tang}, "tang_servers are for mode tang"},
		"nobody":                  {ignition.Encryption{Mode: "tang"}, "not a JSON list of servers"},
		"an empty list":           {ignition.Encryption{Mode: "tang", TangServers: `[]`}, "no servers"},
		"an address alone":        {ignition.Encryption{Mode: "tang", TangServers: `http://tang.example`}, "not a JSON list of servers"},
		"two lists":               {ignition.Encryption{Mode: "tang", TangServers: tang + tang}, "more than a JSON list"},
		"no thumbprint":           {ignition.Encryption{Mode: "tang", TangServers: `[{"url":"http://tang.example"}]`}, "server 1 has no thumbprint"},
		"no URL":                  {ignition.Encryption{Mode: "tang", TangServers: `[{"url":"tang.example","thumbprint":"a"}]`}, "server 1 has no http(s) url"},
		"a password":              {ignition.Encryption{Mode: "tang", TangServers: `[{"url":"http://u:s3cret@tang.example","thumbprint":"a"}]`}, "server 1 has no http(s) url"},
		"one twice":               {ignition.Encryption{Mode: "tang", TangServers: `[{"url":"http://a","thumbprint":"a"},{"url":"http://a","thumbprint":"b"}]`}, "server 2 is there twice"},
		"what nobody would do so": {ignition.Encryption{Mode: "tang", TangServers: `[{"url":"http://a","thumbprint":"a","threshold":2}]`}, `unknown field "threshold"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := tc.encryption.Check()
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
		})
	}
}
