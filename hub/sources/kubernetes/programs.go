package kubernetes

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
)

// Kinds of programs.
const (
	kindSysext  = "sysext"
	kindArchive = "archive"
)

var (
	checksum    = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
	programName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// programs is the list that the host's script reads.
func programs(all []sources.Program) []byte {
	var out strings.Builder
	for _, one := range all {
		algorithm, sum, _ := strings.Cut(one.Checksum, ":")
		out.WriteString(strings.Join([]string{one.Kind, nameOf(one), algorithm + "sum", sum, one.URL}, " ") + "\n")
	}
	return []byte(out.String())
}

// nameOf is the name of an extension or an archive.
func nameOf(one sources.Program) string {
	if one.Name != "" {
		return one.Name
	}
	u, err := url.Parse(one.URL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path.Base(u.Path), ".raw")
}

// programProblem says what is wrong with a program, empty for nothing.
func programProblem(one sources.Program) (what, next string) {
	u, err := url.Parse(one.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(one.URL, " \t\r\n\\"):
		return "its URL is none of https or http", "give the URL of the image or archive, with spaces escaped"
	case u.User != nil:
		return "its URL has a user name or password", "let hosts fetch it without: what is on a command line is seen by all"
	case one.Checksum == "":
		return "it has no checksum", "give sha256:HEX or sha512:HEX: what a host installs unseen has to be known"
	case !checksum.MatchString(one.Checksum):
		return "its checksum cannot be read", "write sha256: and 64, or sha512: and 128 digits, 0 to 9 and a to f"
	case one.Kind != kindSysext && one.Kind != kindArchive:
		return "its kind is \"" + one.Kind + "\"", "write sysext or archive"
	case !programName.MatchString(nameOf(one)):
		return "it has no usable name", "set name to letters, digits, dots, underscores and dashes; for an extension it is what its release file ends with"
	}
	return "", ""
}
