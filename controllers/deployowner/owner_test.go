package deployowner_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
)

func TestOf(t *testing.T) {
	type change = func(*metal3.BareMetalHost)
	recorded := func(h *metal3.BareMetalHost) {
		h.Annotations = map[string]string{names.DeployOwner: deployowner.InfraEnvValue}
	}
	labelled := func(h *metal3.BareMetalHost) { h.Labels = map[string]string{names.InfraEnvLabel: "edge"} }
	by := func(method string) change {
		return func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: method} }
	}
	image := func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "http://images.example/os.raw"} }
	external := func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }
	used := func(kind string) change {
		return func(h *metal3.BareMetalHost) {
			h.Spec.ConsumerRef = &corev1.ObjectReference{Kind: kind, Namespace: "team-a", Name: "mine"}
		}
	}
	for name, c := range map[string]struct {
		host []change
		want deployowner.Owner
	}{
		"a free host": {nil, deployowner.Nobody},
		"a labelled host that nothing was recorded of":   {[]change{labelled}, deployowner.Nobody},
		"recorded before the spec is written":            {[]change{labelled, recorded}, deployowner.InfraEnv},
		"recorded and written":                           {[]change{labelled, recorded, by(names.StartAssistedInstall)}, deployowner.InfraEnv},
		"recorded, and the label goes":                   {[]change{recorded, by(names.StartAssistedInstall)}, deployowner.InfraEnv},
		"recorded, and a person writes another method":   {[]change{labelled, recorded, by(names.InstallCoreOS)}, deployowner.User},
		"recorded, and a person writes an image":         {[]change{labelled, recorded, image}, deployowner.User},
		"an image beside what was recorded and written":  {[]change{labelled, recorded, by(names.StartAssistedInstall), image}, deployowner.InfraEnv},
		"recorded before somebody names a claim":         {[]change{labelled, recorded, used("HostClaim")}, deployowner.InfraEnv},
		"written by a version that records nothing":      {[]change{labelled, by(names.StartAssistedInstall)}, deployowner.InfraEnv},
		"so it is where a consumerRef informs only":      {[]change{labelled, by(names.StartAssistedInstall), used("Machine")}, deployowner.InfraEnv},
		"the method of a host without a label":           {[]change{by(names.StartAssistedInstall)}, deployowner.User},
		"a claim's, whatever it asks for":                {[]change{labelled, by(names.StartAssistedInstall), used("HostClaim")}, deployowner.Consumer},
		"a claim's that asks for nothing to run":         {[]change{labelled, used("HostClaim")}, deployowner.Consumer},
		"a machine's of Cluster API":                     {[]change{image, used("Metal3Machine")}, deployowner.Consumer},
		"an image":                                       {[]change{labelled, image}, deployowner.User},
		"another method":                                 {[]change{labelled, by(names.InstallCoreOS)}, deployowner.User},
		"a system that somebody else has installed":      {[]change{labelled, external}, deployowner.User},
		"recorded, and said to be installed by somebody": {[]change{labelled, recorded, external}, deployowner.User},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{}
			for _, change := range c.host {
				change(h)
			}
			NewWithT(t).Expect(deployowner.Of(h)).To(Equal(c.want))
		})
	}
}
