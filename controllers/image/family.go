package image

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
)

// families has ironic-python-agent call Ironic where machines of the InfraEnv reach it: by names, and by addresses of
// the families that its annotation says. What the annotation cannot say is left to the InfraEnv's condition.
func families(ipa *ignition.IPA, env *agentv1.InfraEnv) error {
	want := agentv1.IPFamilies(env.Annotations[names.IPFamily])
	if len(want) == 0 {
		return nil
	}
	calls := ofFamilies(ipa.APIURLs, want)
	if len(calls) == 0 {
		return fmt.Errorf("%w: annotation %s of InfraEnv %s says %s, and Ironic has no such address for machines: %s. Correct the annotation, or add one to --ironic-base-url",
			ignition.ErrInvalid, names.IPFamily, env.Name, strings.Join(want, ","), strings.Join(ipa.APIURLs, ", "))
	}
	ipa.APIURLs, ipa.InspectionURLs = calls, ofFamilies(ipa.InspectionURLs, want)
	return nil
}

// ofFamilies are the URLs with a name, or with an address of one of the families, in their order.
func ofFamilies(urls, want []string) []string {
	return slices.DeleteFunc(slices.Clone(urls), func(raw string) bool {
		u, err := url.Parse(strings.TrimSpace(raw))
		if err != nil {
			return false // it is refused with the rest of the settings
		}
		address, err := netip.ParseAddr(u.Hostname())
		if err != nil {
			return false
		}
		family := agentv1.IPv4
		if address.Unmap().Is6() {
			family = agentv1.IPv6
		}
		return !slices.Contains(want, family)
	})
}
