package bootstrap_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

// itself is an order that names no image of the machine-config operator.
func itself() wire.InstallCmdRequest {
	return request(func(r *wire.InstallCmdRequest) { r.McoImage = "" })
}

// accountsOf plays the programs that make users and groups: those that they make belong to
// this test's user, so that it may give files to them.
func accountsOf(t *testing.T, h *host) (passwords *[]string) {
	t.Helper()
	h.write(t, "/usr/lib/passwd", "root:x:0:0::/root:/bin/bash\n")
	h.write(t, "/etc/passwd", fmt.Sprintf("core:x:%d:%d:CoreOS Admin:/var/home/core:/bin/bash\n", os.Getuid(), os.Getgid()))
	h.write(t, "/etc/group", fmt.Sprintf("wheel:x:10:core\ncore:x:%d:\n", os.Getgid()))
	add := func(file, line string) func(context.Context, command.Command) error {
		return func(_ context.Context, c command.Command) error {
			raw, err := os.ReadFile(h.dir.Path(file))
			if err != nil {
				return err
			}
			played.Write(t, h.dir, file, string(raw)+strings.ReplaceAll(line, "NAME", c.Args[len(c.Args)-1]))
			return nil
		}
	}
	h.On("useradd", add("/etc/passwd", fmt.Sprintf("NAME:x:%d:%d::/var/home/NAME:/bin/sh\n", os.Getuid(), os.Getgid())))
	h.On("groupadd", add("/etc/group", fmt.Sprintf("NAME:x:%d:\n", os.Getgid())))
	passwords = &[]string{}
	h.On("chpasswd --encrypted", func(_ context.Context, c command.Command) error {
		raw, err := io.ReadAll(c.Stdin)
		*passwords = append(*passwords, string(raw))
		return err
	})
	return passwords
}

const everything = `{"ignition": {"version": "3.6.0", "timeouts": {"httpTotal": 5}},
	"passwd": {
		"groups": [{"name": "etcd", "gid": 990, "system": true}, {"name": "wheel", "gid": 11}],
		"users": [
			{"name": "core", "passwordHash": "$6$secret", "groups": ["etcd"], "sshAuthorizedKeys": ["ssh-ed25519 A", "ssh-ed25519 B"]},
			{"name": "etcd", "uid": 990, "system": true, "noCreateHome": true, "primaryGroup": "etcd", "shell": "/sbin/nologin", "homeDir": "/var/lib/etcd", "gecos": "the store"}]},
	"storage": {
		"directories": [
			{"path": "/opt/a/b", "mode": 448}, {"path": "/opt/a", "mode": 1517, "user": {"name": "core"}, "group": {"name": "core"}}, {"path": "/opt/plain"}],
		"files": [
			{"path": "/opt/a/b/tool", "mode": 2541, "user": {"name": "etcd"}, "contents": {"source": "data:,tool", "verification": {"hash": "sha256-HASH"}}},
			{"path": "/opt/empty"},
			{"path": "/etc/hosts", "append": [{"source": "data:,192.0.2.1%20api%0A"}]}],
		"links": [
			{"path": "/opt/soft", "target": "a/b/tool"}, {"path": "/opt/hard", "target": "/opt/a/b/tool", "hard": true},
			{"path": "/etc/localtime", "target": "../usr/share/zoneinfo/UTC", "overwrite": true}]},
	"systemd": {"units": [
		{"name": "bootkube.service", "enabled": true, "contents": "[Service]\n"},
		{"name": "zincati.service", "mask": true},
		{"name": "chronyd.service", "enabled": false, "dropins": [{"name": "10-x.conf", "contents": "[Unit]\n"}]}]}}`

// TestTheLiveSystemGetsAllThatIgnitionHas: folders, links, users, groups, modes, and units as
// they are to be; a second run after a crash changes nothing more.
func TestTheLiveSystemGetsAllThatIgnitionHas(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	passwords := accountsOf(t, h)
	h.write(t, "/etc/hosts", "127.0.0.1 localhost\n")
	g.Expect(os.Chmod(h.dir.Path("/etc/hosts"), 0o664)).To(Succeed())
	h.write(t, "/etc/localtime", "")
	h.ignition = strings.Replace(everything, "HASH", strings.Repeat("0", 64), 1)
	err := h.run(t, h.role(), itself(), started)
	g.Expect(err).To(MatchError(ContainSubstring("storage.files[0] /opt/a/b/tool: its content has another hash")))
	g.Expect(h.dir.Path("/opt")).NotTo(BeADirectory(), "nothing is written before all of it is known to work")
	g.Expect(h.dir.Path("/run/ironflow/bootstrap.ign")).NotTo(BeAnExistingFile())

	h.ignition = strings.Replace(everything, "HASH", toolHash, 1)
	for range 2 {
		g.Expect(h.run(t, h.role(), itself(), started)).To(Succeed())
	}
	mode := func(path string) fs.FileMode {
		info, err := os.Lstat(h.dir.Path(path))
		g.Expect(err).NotTo(HaveOccurred())
		return info.Mode()
	}
	g.Expect(mode("/opt/a")).To(Equal(fs.ModeDir|fs.ModeSetgid|0o755), "2755 is 1517")
	g.Expect(mode("/opt/a/b")).To(Equal(fs.ModeDir | 0o700))
	g.Expect(mode("/opt/plain")).To(Equal(fs.ModeDir | 0o755))
	g.Expect(mode("/opt/a/b/tool")).To(Equal(fs.ModeSetuid|0o755), "4755 is 2541")
	g.Expect(mode("/opt/empty")).To(Equal(fs.FileMode(0o644)))
	g.Expect(mode("/etc/hosts")).To(Equal(fs.FileMode(0o664)), "it is as it was")
	text, _ := h.read(t, "/etc/hosts")
	g.Expect(text).To(Equal("127.0.0.1 localhost\n192.0.2.1 api\n"))
	for path, want := range map[string]string{
		"/opt/soft": "a/b/tool", "/etc/localtime": "../usr/share/zoneinfo/UTC", "/etc/systemd/system/zincati.service": "/dev/null",
	} {
		target, err := os.Readlink(h.dir.Path(path))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(target).To(Equal(want), path)
	}
	one, err := os.Stat(h.dir.Path("/opt/hard"))
	g.Expect(err).NotTo(HaveOccurred())
	two, err := os.Stat(h.dir.Path("/opt/a/b/tool"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.SameFile(one, two)).To(BeTrue())
	keys, keysMode := h.read(t, "/var/home/core/.ssh/authorized_keys.d/ignition")
	g.Expect(keys).To(Equal("ssh-ed25519 A\nssh-ed25519 B\n"))
	g.Expect(keysMode).To(Equal(os.FileMode(0o600)))
	g.Expect(*passwords).To(Equal([]string{"core:$6$secret\n", "etcd:*\n", "core:$6$secret\n"}))
	g.Expect(strings.Join(h.Lines(), "\n")).NotTo(ContainSubstring("secret"), "nobody reads it in the list of processes")
	g.Expect(h.Lines()[:9]).To(Equal([]string{
		"groupadd --gid 990 --system etcd",
		"groupmod --gid 11 wheel",
		"usermod --append --groups etcd core",
		"chpasswd --encrypted",
		"useradd --home-dir /var/lib/etcd --no-create-home --system --uid 990 --comment the store --gid etcd --shell /sbin/nologin etcd",
		"chpasswd --encrypted",
		"systemctl enable -- bootkube.service",
		"systemctl disable -- chronyd.service",
		h.Lines()[8],
	}))
}

// toolHash is that of the text "tool".
const toolHash = "7c9bbe5ec9b3fb774e8fa0f54247e93c34ddf8e5d16fe3073420de0ae81a262d"

// TestWhatALiveSystemCannotBeGiven is refused by its place, before anything is written.
func TestWhatALiveSystemCannotBeGiven(t *testing.T) {
	for name, tc := range map[string]struct{ config, want string }{
		"disks":               {`"storage": {"disks": [{"device": "/dev/sda"}]}`, "storage.disks: the live system cannot be given this"},
		"file systems":        {`"storage": {"filesystems": [{"device": "/dev/sda", "path": "/var", "format": "xfs"}]}`, "storage.filesystems: "},
		"arrays":              {`"storage": {"raid": [{"name": "a", "level": "raid1", "devices": ["/dev/sda"]}]}`, "storage.raid: "},
		"encryption":          {`"storage": {"luks": [{"name": "a", "device": "/dev/sda", "clevis": {"tpm2": true}}]}`, "storage.luks: "},
		"arguments":           {`"kernelArguments": {"shouldExist": ["a=b"]}`, "kernelArguments: "},
		"another config":      {"", "ignition.config: "},
		"a folder to replace": {`"storage": {"directories": [{"path": "/opt/x", "overwrite": true}]}`, "storage.directories[0] /opt/x: overwrite"},
		"a folder on a file":  {`"storage": {"directories": [{"path": "/etc/taken"}]}`, "storage.directories[0] /etc/taken: something that is no folder is there"},
		"a file on a folder":  {`"storage": {"files": [{"path": "/etc"}]}`, "storage.files[0] /etc: a folder is there"},
		"a link on a file":    {`"storage": {"links": [{"path": "/etc/taken", "target": "x"}]}`, "storage.links[0] /etc/taken: something else is there; set overwrite"},
		"a link on a folder":  {`"storage": {"links": [{"path": "/proc/sys", "target": "x", "overwrite": true}]}`, "storage.links[0] /proc/sys: a folder is there"},
		"a file below a file": {
			`"storage": {"files": [{"path": "/ok", "contents": {"source": "data:,x"}}, {"path": "/etc/taken/x", "contents": {"source": "data:,x"}}]}`,
			"storage.files[1] /etc/taken/x: what is above it is no folder",
		},
		"a link to nothing": {
			`"storage": {"files": [{"path": "/ok", "contents": {"source": "data:,x"}}], "links": [{"path": "/etc/hard", "target": "/etc/none", "hard": true}]}`,
			"storage.links[0] /etc/hard: target: there is no /etc/none to link to",
		},
		"an unknown user":    {`"storage": {"files": [{"path": "/x", "user": {"name": "nobody-knows"}}]}`, "storage.files[0] /x: user.name: there is no user nobody-knows"},
		"an unknown group":   {`"storage": {"files": [{"path": "/x", "group": {"name": "nobody-knows"}}]}`, "storage.files[0] /x: group.name: there is no group nobody-knows"},
		"a user to remove":   {`"passwd": {"users": [{"name": "core", "shouldExist": false}]}`, "passwd.users[0] core: shouldExist"},
		"a group to remove":  {`"passwd": {"groups": [{"name": "core", "shouldExist": false}]}`, "passwd.groups[0] core: shouldExist"},
		"a group's password": {`"passwd": {"groups": [{"name": "core", "passwordHash": "secret"}]}`, "passwd.groups[0] core: passwordHash"},
		"a user like a flag": {`"passwd": {"users": [{"name": "--root=/"}]}`, "this is no user's name"},
		"two lines of a key": {`"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["secret\nb"]}]}`, "passwd.users[0] core: sshAuthorizedKeys"},
		"a password's rest":  {`"passwd": {"users": [{"name": "core", "passwordHash": "secret\nroot:x"}]}`, "passwd.users[0] core: passwordHash"},
		"a masked unit":      {`"systemd": {"units": [{"name": "a.service", "mask": true, "contents": "[Service]\n"}]}`, "systemd.units[0] a.service: it has contents"},
		"remote content": {
			`"storage": {"files": [{"path": "/ok", "contents": {"source": "data:,x"}}, {"path": "/x", "append": [{"source": "https://secret.example/x"}]}]}`,
			"storage.files[1] /x: append[0]: its source is no data URL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.write(t, "/etc/taken", "")
			h.ignition = `{"ignition": {"version": "3.5.0"}, ` + tc.config + "}"
			if tc.config == "" {
				h.ignition = `{"ignition": {"version": "3.5.0", "config": {"merge": [{"source": "https://x.example/secret"}]}}}`
			}
			err := h.run(t, h.role(), itself(), started)
			g.Expect(err).To(MatchError(ContainSubstring("bootstrap.ign: ")))
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
			g.Expect(h.Lines()).To(BeEmpty())
			g.Expect(h.dir.Path("/ok")).NotTo(BeAnExistingFile())
			g.Expect(h.dir.Path("/run/ironflow/bootstrap.ign")).NotTo(BeAnExistingFile())
		})
	}
}

// TestAProgramThatDoesNotEndIsGivenUp: the installation fails with a reason instead of standing still.
func TestAProgramThatDoesNotEndIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		h := newHost(t)
		h.On("groupadd", func(ctx context.Context, _ command.Command) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		h.ignition = `{"ignition": {"version": "3.5.0"}, "passwd": {"groups": [{"name": "etcd"}]}}`
		g.Expect(h.run(t, h.role(), itself(), started)).To(MatchError(ContainSubstring("group etcd: groupadd: no end in 5m0s")))
	})
}

// TestTheDaemonTakesWhatItTakes: with an image of the machine-config operator, that one decides.
func TestTheDaemonTakesWhatItTakes(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.ignition = `{"ignition": {"version": "3.5.0"}, "storage": {"disks": [{"device": "/dev/sda"}]}}`
	g.Expect(h.run(t, h.role(), request(nil), "write-machine-config")).To(Succeed())
}
