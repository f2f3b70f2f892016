package usernetwork_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/usernetwork"
)

func TestRefused(t *testing.T) {
	users, clusters := new(true), new(false)
	for name, tc := range map[string]struct {
		platform string
		single   bool
		asked    *bool
		want     string
	}{
		"nothing asked":                  {"none", false, nil, ""},
		"the user's, of no platform":     {"", false, users, ""},
		"the cluster's, of no platform":  {"", false, clusters, ""},
		"the user's, of none":            {"none", false, users, ""},
		"the cluster's, of none":         {"none", false, clusters, "platform none, whose network is the user's"},
		"of none, as an object has it":   {"None", true, clusters, "platform None, whose network is the user's"},
		"the cluster's, of external":     {"External", false, clusters, "platform External, whose network is the user's"},
		"the cluster's, of a cloud":      {"vsphere", false, clusters, ""},
		"the user's, of a cloud":         {"vsphere", false, users, ""},
		"the cluster's, of a node":       {"baremetal", true, clusters, "a single node, whose network is the user's"},
		"the user's, of a node":          {"baremetal", true, users, ""},
		"the user's, of many":            {"BareMetal", false, users, "platform BareMetal, whose network is the cluster's"},
		"the cluster's, of many on bare": {"BareMetal", false, clusters, ""},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(usernetwork.Refused(tc.platform, tc.single, tc.asked)).To(Equal(tc.want))
		})
	}
}

func TestUsers(t *testing.T) {
	g := NewWithT(t)
	g.Expect(usernetwork.Users("none", nil)).To(BeTrue())
	g.Expect(usernetwork.Users("External", nil)).To(BeTrue())
	g.Expect(usernetwork.Users("baremetal", nil)).To(BeFalse())
	g.Expect(usernetwork.Users("", nil)).To(BeFalse())
	g.Expect(usernetwork.Users("BareMetal", new(true))).To(BeTrue())
	g.Expect(usernetwork.Users("", new(false))).To(BeFalse())
}
