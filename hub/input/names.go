package input

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode"

	"github.com/ironflow/ironflow/hub/apierror"
)

const (
	maxClusterName = 54
	maxLabel       = 63
	maxName        = 253
	// maxTags is our own: the protocol names no limit, and each list of clusters has them.
	maxTags = 1024
	// longestName is the longest of the names in a cluster's zone that hosts are asked for.
	longestName = "console-openshift-console.apps."
)

var (
	// label is one of RFC 1123, in lower case.
	label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	// looseLabel is one that resolvers take: servers are called so, too.
	looseLabel = regexp.MustCompile(`^[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?$`)
	// tagForm is that of one tag, as the existing service has it.
	tagForm = regexp.MustCompile(`^[A-Za-z0-9_]+( [A-Za-z0-9_]+)*$`)
	digits  = regexp.MustCompile(`^[0-9]+$`)
	// versionForm is a release's number, of which the last part may be left out.
	versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?([-+][0-9A-Za-z.+-]+)?$`)
	// mediumForm is that of a base medium, which has a release's or one of its own.
	mediumForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?$`)
)

func clusterName(c *Cluster) error {
	if !label.MatchString(c.Name) || len(c.Name) > maxClusterName {
		return apierror.Value("name", c.Name, "want at most %d lower-case letters, digits and dashes, such as edge-1; the first and the last is no dash", maxClusterName)
	}
	return nil
}

// tags refuses what is no list of words for people.
func tags(c *Cluster) error {
	if n := len([]rune(c.Tags)); n > maxTags {
		return apierror.Field("tags", "has %d characters: want at most %d", n, maxTags)
	}
	if c.Tags == "" {
		return nil
	}
	for tag := range strings.SplitSeq(c.Tags, ",") {
		if !tagForm.MatchString(tag) {
			return apierror.Value("tags", tag, "want words of letters, digits and underscores, and a comma without blanks between tags, such as lab,row 7")
		}
	}
	return nil
}

// infraEnvName refuses what would forge a line of a log, or steer a terminal. The protocol
// names neither a form nor a limit; that of names of Kubernetes objects is ours.
func infraEnvName(e *InfraEnv) error {
	n := len([]rune(e.Name))
	switch {
	case n == 0:
		return apierror.Missing("name", "want one, such as edge")
	case n > maxName:
		return apierror.Field("name", "has %d characters: want at most %d", n, maxName)
	case strings.ContainsFunc(e.Name, func(r rune) bool { return !unicode.IsGraphic(r) && !joins(r) }):
		return apierror.Value("name", e.Name, "want letters, digits, signs and blanks on one line, such as edge")
	}
	return nil
}

// joins tells of what has no sign of its own, and is a part of words of some scripts: it steers how their letters join.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// baseDomain refuses what no zone of the DNS can be called, and what certificates and
// resolvers take for something else: an address, or a name of one letter at the end.
func baseDomain(c *Cluster) error {
	domain := c.BaseDNSDomain
	if domain == "" {
		return nil
	}
	labels := strings.Split(domain, ".")
	for _, l := range labels {
		if !label.MatchString(l) || len(l) > maxLabel {
			return apierror.Value("base_dns_domain", domain, "want names of lower-case letters, digits and dashes with dots between them, such as lab.example.com; "+
				"none begins or ends with a dash or is longer than %d", maxLabel)
		}
	}
	if last := labels[len(labels)-1]; len(last) == 1 || digits.MatchString(last) {
		return apierror.Value("base_dns_domain", domain, "want a last name of at least two characters that is no number, such as com in lab.example.com")
	}
	if n := len(longestName + c.Name + "." + domain); n > maxName {
		return apierror.Value("base_dns_domain", domain, "with the cluster's name, %sNAME.DOMAIN has %d characters: want at most %d", longestName, n, maxName)
	}
	return nil
}

// versionOf refuses what is no release's number; empty is none.
func versionOf(version string) error {
	if version != "" && !versionForm.MatchString(version) {
		return apierror.Value("openshift_version", version, "want a release's number, such as 4.20 or 4.20.1; see openshift-versions")
	}
	return nil
}

// isServer tells that the text can be asked for in the DNS, or is an address.
func isServer(text string) bool {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Zone() == ""
	}
	return isName(text)
}

func isName(text string) bool {
	if len(text) > maxName {
		return false
	}
	for l := range strings.SplitSeq(text, ".") {
		if !looseLabel.MatchString(l) || len(l) > maxLabel {
			return false
		}
	}
	return true
}

// timeServers refuses a list of clocks that nobody could ask.
func timeServers(member, list string) error {
	if list == "" {
		return nil
	}
	for server := range strings.SplitSeq(list, ",") {
		if !isServer(server) {
			return apierror.Value(member, server, "want names or addresses of NTP servers with a comma between them and no blanks, such as clock.example,192.0.2.1")
		}
	}
	return nil
}
