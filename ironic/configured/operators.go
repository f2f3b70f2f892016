package configured

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/ironic"
)

// Operators is the Ironic of baremetal-operator, which has one: of a list
// with several it is the one with the URL of --ironic-endpoint.
func Operators(s v1alpha1.Ironic) (ironic.Config, error) {
	if s.EndpointsFile == "" {
		return One(s), nil
	}
	list, err := readEndpoints(s.EndpointsFile)
	if err != nil {
		return ironic.Config{}, err
	}
	if len(list) > 1 {
		if s.Endpoint == "" {
			return ironic.Config{}, fmt.Errorf("%s lists %d Ironics, and baremetal-operator has one: name its URL with --ironic-endpoint or IRONIC_ENDPOINT", s.EndpointsFile, len(list))
		}
		base := func(url string) string { return strings.TrimSuffix(strings.TrimRight(url, "/"), "/v1") }
		list = slices.DeleteFunc(list, func(c ironic.Config) bool { return base(c.URL) != base(s.Endpoint) })
		if len(list) == 0 {
			return ironic.Config{}, fmt.Errorf("%s lists no Ironic with the URL %s of --ironic-endpoint", s.EndpointsFile, s.Endpoint)
		}
	}
	list[0].Timeout = s.Timeout.Duration
	return list[0], nil
}
