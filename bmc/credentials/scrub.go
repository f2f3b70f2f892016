package credentials

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

const redacted = "[redacted]"

// longest bounds a message of a BMC or of Ironic.
const longest = 512

// scrubber takes passwords out of texts. BMCs name the value that they refuse.
type scrubber struct{ forms []string }

// shortest is the length below which a password is not looked for: it would take
// letters out of words.
const shortest = 4

// add makes it look for a login's password, in the forms that it takes on the way.
func (s *scrubber) add(l rotation.Login) {
	plain := string(l.Password)
	if len(plain) < shortest {
		return
	}
	quoted, _ := json.Marshal(plain) //nolint:errchkjson // a text
	basic := base64.StdEncoding.EncodeToString([]byte(l.Username + ":" + plain))
	s.forms = append(s.forms, plain, strings.Trim(string(quoted), `"`), fmt.Sprintf("%q", plain), url.QueryEscape(plain), url.PathEscape(plain),
		basic, base64.StdEncoding.EncodeToString([]byte(plain)))
}

// text is a text without the passwords, on one line, and not too long.
func (s *scrubber) text(t string) string {
	for _, form := range s.forms {
		t = strings.ReplaceAll(t, form, redacted)
	}
	t = strings.Join(strings.Fields(t), " ")
	if runes := []rune(t); len(runes) > longest {
		t = string(runes[:longest]) + " …"
	}
	return t
}

// message is what an error says; empty for none.
func (s *scrubber) message(err error) string {
	if err == nil {
		return ""
	}
	return s.text(err.Error())
}

// clean is an error that holds none of the passwords: itself if it has none, else only
// its text without them, since what it wraps would tell them.
func (s *scrubber) clean(err error) error {
	if err == nil {
		return nil
	}
	for _, form := range s.forms {
		if strings.Contains(err.Error(), form) {
			return errors.New(s.text(err.Error()))
		}
	}
	return err
}

// secretsOf makes a scrubber for a record, the host's Secret and others.
func secretsOf(r *rotation.Record, given rotation.Login, others ...client.Secret) *scrubber {
	s := &scrubber{}
	if r != nil {
		for _, c := range r.Candidates {
			s.add(c.Login)
		}
	}
	s.add(given)
	for _, p := range others {
		s.add(rotation.Login{Username: given.Username, Password: p})
	}
	return s
}
