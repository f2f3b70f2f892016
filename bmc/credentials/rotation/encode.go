package rotation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
)

// stateKey is the record's key of all that is no password. The passwords have a key
// each, named as their role, so that a person can read one.
const stateKey = "state"

// RecordName is the name of the Secret that holds a host's record.
func RecordName(host string) string { return host + "-bmc-rotation" }

// usernames are kept beside the record, since a login has its user.
type stored struct {
	Record
	Usernames map[Role]string `json:"usernames,omitempty"`
}

var rolePattern = regexp.MustCompile(`^(next|current|given|earlier-[1-9][0-9]?)$`)

// Encode gives the data of the Secret that holds a record.
func Encode(r *Record) (map[string][]byte, error) {
	data, s := map[string][]byte{}, stored{Record: *r, Usernames: map[Role]string{}}
	for _, c := range r.Candidates {
		data[string(c.Role)] = []byte(string(c.Login.Password))
		s.Usernames[c.Role] = c.Login.Username
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the record of a rotation: %w", err)
	}
	data[stateKey] = raw
	return data, nil
}

// Decode reads the data of the Secret that holds a record. No data at all is a new
// record. What it does not understand is an error: a record may hold the only copy of
// a password, and is never written over because somebody, or another version, has
// left something else there. The error names no value.
func Decode(data map[string][]byte) (*Record, error) {
	if len(data) == 0 {
		return &Record{}, nil
	}
	raw, found := data[stateKey]
	if !found {
		return nil, fmt.Errorf("the key %s is missing", stateKey)
	}
	var s stored
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&s); err != nil {
		return nil, fmt.Errorf("the key %s is no record of a rotation", stateKey)
	}
	if _, known := phases[s.Phase]; !known {
		return nil, fmt.Errorf("the phase %q is not known to this version", s.Phase)
	}
	seen := map[Role]bool{}
	for i := range s.Candidates {
		c := &s.Candidates[i]
		password, found := data[string(c.Role)]
		switch {
		case !rolePattern.MatchString(string(c.Role)) || seen[c.Role]:
			return nil, fmt.Errorf("the role %q of a password is not known, or there twice", c.Role)
		case !found || len(password) == 0:
			return nil, fmt.Errorf("the key %s with a password is missing", c.Role)
		}
		seen[c.Role] = true
		c.Login = Login{Username: s.Usernames[c.Role], Password: client.Secret(password)}
	}
	for key := range data {
		if key != stateKey && !seen[Role(key)] && strings.TrimSpace(string(data[key])) != "" {
			return nil, fmt.Errorf("the key %q is none of the record's", key)
		}
	}
	if s.Holds != "" && !seen[s.Holds] {
		return nil, fmt.Errorf("the key %q of the password that holds is missing", s.Holds)
	}
	for _, role := range phases[s.Phase].needs {
		if !seen[role] {
			return nil, fmt.Errorf("in phase %q the key %s is missing", s.Phase, role)
		}
	}
	return &s.Record, nil
}
