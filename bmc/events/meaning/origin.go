package meaning

import (
	"net/url"
	"regexp"
)

// belowSystem finds the system that a path leads to or below: from the root of the
// service, so that a chassis or manager that lists systems is none.
var belowSystem = regexp.MustCompile(`(?i)^(?:https?://[^/]*)?/redfish/v1/Systems/([^/?#]+)`)

// SystemOf is the path of the system that a resource is, or is a part of; empty where the
// resource's path does not say so: chassis, managers and tasks belong to no system by
// their paths.
func SystemOf(path string) string {
	found := belowSystem.FindStringSubmatch(path)
	if found == nil {
		return ""
	}
	id, err := url.PathUnescape(found[1])
	if err != nil {
		id = found[1]
	}
	return "/redfish/v1/Systems/" + id
}
