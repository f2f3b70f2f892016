package probe

import (
	"fmt"
	"net/url"
	"regexp"
)

// nameForm is a host name, with or without its final dot.
var nameForm = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)

// ValidName tells whether the text is a host name, with or without its final dot.
func ValidName(name string) bool { return len(name) <= 255 && nameForm.MatchString(name) }

// CheckURL refuses what is no http(s) URL; name is the member of the request.
func CheckURL(name, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%s %q is not an http(s) URL", name, text)
	}
	return nil
}
