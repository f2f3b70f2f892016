package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
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
			var s v1alpha1.IronflowConfiguration
			flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
			settings.Bind(flags, topics.All(&s))
			g.Expect(flags.Parse(append(c.args, "--ironic-endpoint=https://ironic.example:6385", "--base-image=x"))).To(Succeed())
			use := "run"
			if c.alone {
				use = "controllers"
			}
			err := processOf(use).Check(&s)
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
