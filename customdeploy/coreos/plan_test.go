package coreos

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

func TestPlan(t *testing.T) {
	drive := func(user any, meta map[string]any) map[string]any {
		return map[string]any{"configdrive": map[string]any{"user_data": user, "meta_data": meta}}
	}
	for name, tc := range map[string]struct {
		info  map[string]any
		check func(g *WithT, p Plan)
		err   string
	}{
		"nothing given: a minimal config with the name": {nil, func(g *WithT, p Plan) {
			g.Expect(string(p.Ignition)).To(MatchJSON(`{"ignition": {"version": "3.0.0"}, "storage": {"files": [
				{"path": "/etc/hostname", "mode": 420, "overwrite": true, "contents": {"source": "data:,node-1"}}]}}`))
			g.Expect(p.Args("/dev/sda", "/c.ign", "")).To(Equal([]string{"coreos-installer", "install", "--preserve-on-error", "--ignition-file", "/c.ign", "--offline", "/dev/sda"}))
		}, ""},
		"Ignition as text, own hostname wins": {drive(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/hostname"}]}}`, nil), func(g *WithT, p Plan) {
			g.Expect(string(p.Ignition)).To(MatchJSON(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/hostname"}]}}`))
		}, ""},
		"the rest of the config stays": {drive(map[string]any{"ignition": map[string]any{"version": "3.4.0"}, "passwd": map[string]any{"users": []any{}}}, nil), func(g *WithT, p Plan) {
			g.Expect(string(p.Ignition)).To(ContainSubstring(`"passwd":{"users":[]}`))
			g.Expect(string(p.Ignition)).To(ContainSubstring("/etc/hostname"))
		}, ""},
		"each kernel argument on its own": {drive(nil, map[string]any{"coreos_append_karg": []any{"a=1,2", "-b"}, "coreos_copy_network": true}), func(g *WithT, p Plan) {
			g.Expect(p.Args("/dev/sda", "/c", "http://x")).To(Equal([]string{
				"coreos-installer", "install", "--preserve-on-error", "--ignition-file", "/c",
				"--append-karg=a=1,2", "--append-karg=-b", "--insecure", "--image-url", "http://x", "--copy-network", "/dev/sda",
			}))
		}, ""},
		"image with digest": {map[string]any{"image_source": "https://x/i", "image_os_hash_algo": "SHA256", "image_os_hash_value": strings.Repeat("AB", 32)}, func(g *WithT, p Plan) {
			g.Expect(p.HashValue).To(Equal(strings.Repeat("ab", 32)))
		}, ""},
		"older checksum: its length names the algorithm": {map[string]any{"image_source": "http://x/i", "image_checksum": strings.Repeat("CD", 64)}, func(g *WithT, p Plan) {
			g.Expect(p.HashAlgo).To(Equal("sha512"))
			g.Expect(p.HashValue).To(Equal(strings.Repeat("cd", 64)))
		}, ""},
		"digest with its algorithm before the older one": {map[string]any{
			"image_source": "http://x/i", "image_checksum": strings.Repeat("CD", 64), "image_os_hash_algo": "sha256", "image_os_hash_value": strings.Repeat("AB", 32),
		}, func(g *WithT, p Plan) {
			g.Expect(p.HashAlgo).To(Equal("sha256"))
		}, ""},
		"older checksum, md5":           {map[string]any{"image_source": "http://x/i", "image_checksum": strings.Repeat("0", 32)}, nil, `instance_info.image_checksum: a digest "md5" is not supported`},
		"older checksum, a URL":         {map[string]any{"image_source": "http://x/i", "image_checksum": "https://x/SHA256SUMS"}, nil, `a digest "URL" is not supported; give the image's sha256 or sha512`},
		"older checksum, no digest":     {map[string]any{"image_source": "http://x/i", "image_checksum": "abc"}, nil, `a digest "of 3 characters" is not supported`},
		"older checksum, no hex":        {map[string]any{"image_source": "http://x/i", "image_checksum": strings.Repeat("z", 64)}, nil, "instance_info.image_checksum is not a sha256 digest in hex"},
		"config drive as ISO":           {map[string]any{"configdrive": "H4sIAAAA"}, nil, "instance_info.configdrive must be JSON"},
		"kernel arguments as text":      {drive(nil, map[string]any{"coreos_append_karg": "a,b"}), nil, "configdrive.meta_data.coreos_append_karg must be a list"},
		"kernel argument, no text":      {drive(nil, map[string]any{"coreos_append_karg": []any{"a", 1.0}}), nil, "coreos_append_karg[1]"},
		"copy network as text":          {drive(nil, map[string]any{"coreos_copy_network": "yes"}), nil, "coreos_copy_network must be true or false"},
		"kernel argument with NUL":      {drive(nil, map[string]any{"coreos_append_karg": []any{"a\x00b"}}), nil, "coreos_append_karg[0] must be one kernel argument"},
		"unknown Ignition 3":            {drive(`{"ignition":{"version":"3.99.0"}}`, nil), nil, `ignition.version "3.99.0": unsupported config version; 3.0.0 to 3.6.0 are known`},
		"section of another type":       {drive(`{"ignition":{"version":"3.1.0"},"passwd":[]}`, nil), nil, "is no valid Ignition config"},
		"file without an absolute path": {drive(`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"motd"}]}}`, nil), nil, "storage.files.0.path: path not absolute"},
		"no Ignition":                   {drive("#cloud-config", nil), nil, "configdrive.user_data must be an Ignition config"},
		"Ignition 2":                    {drive(`{"ignition":{"version":"2.2.0"}}`, nil), nil, `ignition.version "2.2.0" is not 3.x`},
		"files of another type":         {drive(`{"ignition":{"version":"3.0.0"},"storage":{"files":{}}}`, nil), nil, "is no valid Ignition config"},
		"secrets of a URL are kept":     {map[string]any{"image_source": "ftp://user:hunter2@x/i?token=hunter2"}, nil, `image_source "ftp://x/i" is not an http or https URL`},
		"a URL that is none":            {map[string]any{"image_source": "http://user:hunter2@x y/"}, nil, "instance_info.image_source is not a URL"},
		"image source of a file":        {map[string]any{"image_source": "file:///x"}, nil, "is not an http or https URL"},
		"weak digest": {
			map[string]any{"image_source": "http://x/i", "image_os_hash_algo": "md5", "image_os_hash_value": "00"},
			nil,
			`a digest "md5" is not supported; give the image's sha256 or sha512`,
		},
		"digest of another length":  {map[string]any{"image_source": "http://x/i", "image_os_hash_algo": "sha256", "image_os_hash_value": "00"}, nil, "is not a sha256 digest"},
		"hints that are no object":  {map[string]any{"root_device": "sda"}, nil, "instance_info.root_device must be an object"},
		"a hint that is not usable": {map[string]any{"root_device": map[string]any{"size": "x"}}, nil, "instance_info.root_device: root device hint size"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p, err := NewPlan(step.Node{InstanceInfo: tc.info}, "node-1")
			if tc.err != "" {
				g.Expect(err).To(MatchError(And(ContainSubstring(tc.err), Not(ContainSubstring("hunter2")))))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			ignitioncheck.Valid(t, p.Ignition)
			tc.check(g, p)
		})
	}
}

// TestBitsThatIgnitionDrops: the deployment goes on, and says so.
func TestBitsThatIgnitionDrops(t *testing.T) {
	for version, want := range map[string]string{
		"3.4.0": "Ignition drops the bits setuid, setgid and sticky of storage.files.0.mode: only configs of 3.6.0 have them", "3.6.0": "",
	} {
		g := NewWithT(t)
		m, s, written := listed(t, twoPaths, bareDisks)
		r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{"configdrive": map[string]any{
			"user_data": `{"ignition":{"version":"` + version + `"},"storage":{"files":[{"path":"/usr/local/bin/tool","mode":2541}]}}`,
		}}}))
		g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)
		g.Expect(r.Reason).To(Equal(want))
	}
}
