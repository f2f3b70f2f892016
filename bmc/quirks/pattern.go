package quirks

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// pattern says which texts are meant, without case and blanks: nothing for all,
// globs with bars between them (iDRAC8|iDRAC9), or a regular expression between
// slashes. A text that is not known fits no pattern but * and the empty one.
type pattern struct {
	globs  []string
	regexp *regexp.Regexp
}

func parsePattern(text string) (pattern, error) {
	if len(text) > 1 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/") {
		r, err := regexp.Compile("(?i)" + text[1:len(text)-1])
		if err != nil {
			return pattern{}, fmt.Errorf("the regular expression %s cannot be read: %w", text, err)
		}
		return pattern{regexp: r}, nil
	}
	var p pattern
	if text == "" {
		return p, nil
	}
	for glob := range strings.SplitSeq(text, "|") {
		glob = squeezed(glob)
		if glob == "" {
			return p, fmt.Errorf("%q has an empty part between its bars", text)
		}
		if err := checkGlob(glob); err != nil {
			return p, err
		}
		p.globs = append(p.globs, glob)
	}
	return p, nil
}

func checkGlob(glob string) error {
	if _, err := path.Match(glob, ""); err != nil {
		return fmt.Errorf("the pattern %q cannot be read: close its bracket, or leave it out", glob)
	}
	return nil
}

// matches reports whether a text fits.
func (p pattern) matches(text string) bool {
	if p.regexp != nil {
		return text != "" && p.regexp.MatchString(text)
	}
	for _, glob := range p.globs {
		if glob == "*" || text != "" && globbed(glob, squeezed(text)) {
			return true
		}
	}
	return len(p.globs) == 0
}

// globbed matches a glob whose stars reach over slashes, too.
func globbed(glob, text string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return err == nil && ok
}

func squeezed(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), ""))
}
