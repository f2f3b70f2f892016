package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/pki"
)

func TestEventSettings(t *testing.T) {
	on := []string{"--bmc", "--bmc-events-addr=:8092", "--bmc-events-publish-url=https://ironflow.example:8092"}
	files := []string{"--bmc-events-cert-dir=/certs", "--bmc-events-key-file=/keys/events"}
	for name, c := range map[string]struct {
		args []string
		// alone is `ironflow controllers`, which has no data folder.
		alone bool
		want  string
	}{
		"off":                         {},
		"off, alone":                  {alone: true},
		"all that is needed":          {args: on},
		"alone, with files":           {args: append(files, on...), alone: true},
		"alone, without files":        {args: on, alone: true, want: "needs --bmc-events-cert-dir and --bmc-events-key-file"},
		"an address without BMCs":     {args: on[1:], want: "--bmc-events-addr needs --bmc"},
		"an address without a URL":    {args: on[:2], want: "needs --bmc-events-publish-url: the URL by which BMCs reach it"},
		"a URL without an address":    {args: on[2:], want: "without --bmc-events-addr"},
		"in the clear":                {args: append(on[:2:2], "--bmc-events-publish-url=http://ironflow.example"), want: "must be https://"},
		"no URL":                      {args: append(on[:2:2], "--bmc-events-publish-url=ironflow.example:8092"), want: "must be https://"},
		"a URL with a password":       {args: append(on[:2:2], "--bmc-events-publish-url=https://me:hunter2@ironflow.example"), want: "without credentials"},
		"looks that BMCs do not bear": {args: append(on[:3:3], "--bmc-events-every=1s"), want: "--bmc-events-every 1s: want at least 1m"},
		"health before it is asked":   {args: append(on[:3:3], "--bmc-events-health-every=-1s"), want: "--bmc-events-health-every"},
		"looks of one that is not on": {args: []string{"--bmc-events-every=1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s configuration
			flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
			settings.Bind(flags, topics.All(&s.IronflowConfiguration))
			g.Expect(flags.Parse(append(c.args, "--ironic-endpoint=https://ironic.example:6385", "--base-image=x"))).To(Succeed())
			use := "run"
			if c.alone {
				use = "controllers"
			}
			err := s.check(use)
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(c.want), Not(ContainSubstring("hunter2")))))
		})
	}
}

// TestNothingListensByDefault: nobody is listened to who was not asked for. What follows
// from that is in test/bmcevents.
func TestNothingListensByDefault(t *testing.T) {
	s := defaults(t.TempDir())
	NewWithT(t).Expect(s.BMCEvents.Address).To(BeEmpty())
}

// TestKeysOfEvents: addresses stay the same over restarts, and are those of the file
// that replicas share.
func TestKeysOfEvents(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	made, err := new(eventSettings).keys(dir)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := new(eventSettings).keys(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Of("uid", 0).Part).To(Equal(made.Of("uid", 0).Part))
	info, err := os.Stat(filepath.Join(dir, "events.key"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))

	file := filepath.Join(dir, "shared")
	g.Expect(os.WriteFile(file, []byte(strings.Repeat("x", 32)), 0o600)).To(Succeed())
	shared, err := (&eventSettings{KeyFile: file}).keys("")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shared.Of("uid", 0).Part).NotTo(Equal(made.Of("uid", 0).Part))

	g.Expect(os.WriteFile(file, []byte("hunter2"), 0o600)).To(Succeed())
	_, err = (&eventSettings{KeyFile: file}).keys("")
	g.Expect(err).To(MatchError(And(ContainSubstring("--bmc-events-key-file "+file), ContainSubstring("at least 32 random ones"), Not(ContainSubstring("hunter2")))))
	_, err = (&eventSettings{KeyFile: filepath.Join(dir, "none")}).keys(dir)
	g.Expect(err).To(MatchError(ContainSubstring("--bmc-events-key-file")), "a file that was named is not made")
}

// TestCertificateOfEvents: that of the folder, else our own.
func TestCertificateOfEvents(t *testing.T) {
	g := NewWithT(t)
	own, err := pki.Ensure(filepath.Join(t.TempDir(), "own"), []string{"ironflow.example"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	config, err := new(eventSettings).tls(own, v1alpha1.TLS{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.GetCertificate(nil)).NotTo(BeNil())
	_, err = (&eventSettings{CertDir: t.TempDir()}).tls(own, v1alpha1.TLS{})
	g.Expect(err).To(MatchError(And(ContainSubstring("receiver of BMC events"), ContainSubstring("tls.crt"))))
}
