package pointer

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_6/types"
	"github.com/vincent-petithory/dataurl"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// Read is where a configuration points, as those of the roles of a release do: the URL that it is merged from, and the
// authorities that it brings for that. It is nil for a configuration that points nowhere, or to several places.
func Read(config []byte) *sources.Endpoint {
	var c types.Config
	if json.Unmarshal(config, &c) != nil || len(c.Ignition.Config.Merge) != 1 {
		return nil
	}
	from, err := url.Parse(wire.Value(c.Ignition.Config.Merge[0].Source))
	if err != nil || from.Host == "" || from.Scheme != "https" && from.Scheme != "http" {
		return nil
	}
	var authorities strings.Builder
	for _, one := range c.Ignition.Security.TLS.CertificateAuthorities {
		text, ok := certificates(wire.Value(one.Source))
		if !ok {
			return nil // the server would not be trusted
		}
		authorities.WriteString(text)
	}
	return &sources.Endpoint{URL: from.String(), CA: base64.StdEncoding.EncodeToString([]byte(authorities.String()))}
}

// certificates are those of a data URL, in PEM.
func certificates(source string) (string, bool) {
	decoded, err := dataurl.DecodeString(source)
	if err != nil {
		return "", false
	}
	block, _ := pem.Decode(decoded.Data)
	return strings.TrimSpace(string(decoded.Data)) + "\n", block != nil
}
