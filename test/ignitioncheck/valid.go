// Package ignitioncheck has Ignition itself judge the configs that Ironflow
// writes, with the parser and the checks that run on a machine at its first boot.
//
// Its tests keep a table of the packages that write configs: each must show what
// it writes to [Valid], and a package that is not in the table fails them.
package ignitioncheck

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/coreos/ignition/v2/config"
	"github.com/coreos/ignition/v2/config/v3_7_experimental/types"
	"github.com/vincent-petithory/dataurl"
)

// maxPart bounds the unpacked text of a config within a config.
const maxPart = 16 << 20

// Valid fails the test unless Ignition reads the config in the version that it is
// written in, and finds nothing that it would warn of: a member that it does not
// know, a unit that systemd cannot parse, files in each other's way. What the
// config merges and holds itself is judged as well.
func Valid(t testing.TB, raw []byte) {
	t.Helper()
	for _, problem := range Problems(raw) {
		t.Errorf("Ignition says of the config: %s\n%s", problem, raw)
	}
}

// Problems are what Ignition says of a config, nothing for a good one.
func Problems(raw []byte) (problems []string) {
	parsed, rpt, err := config.Parse(raw)
	for _, entry := range rpt.Entries {
		problems = append(problems, entry.String())
	}
	if err != nil {
		return append(problems, err.Error())
	}
	for _, part := range append(parsed.Ignition.Config.Merge, parsed.Ignition.Config.Replace) {
		text, err := held(part)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case text != nil:
			problems = append(problems, Problems(text)...)
		}
	}
	return problems
}

// held is a config that another one holds; nil for what is fetched.
func held(part types.Resource) ([]byte, error) {
	if part.Source == nil || !bytes.HasPrefix([]byte(*part.Source), []byte("data:")) {
		return nil, nil
	}
	u, err := dataurl.DecodeString(*part.Source)
	if err != nil || part.Compression == nil || *part.Compression != "gzip" {
		return u.Data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(u.Data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxPart))
}
