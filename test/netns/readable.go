package netns

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
)

// readable makes a reply's output comparable with what a person wrote. Lists keep
// their order, which is part of the protocol.
//
//   - average_rtt_ms between 0 and 10,000 becomes the text RTT.
//   - The moments of a DHCP lease (renew, rebind, expire) become the text TIME.
//   - payload and protected of a signed object (RFC 7515) are decoded; a signature
//     becomes the text SIGNATURE.
func readable(output string) (string, error) {
	var value any
	if err := json.Unmarshal([]byte(output), &value); err != nil {
		return "", fmt.Errorf("the output is not JSON: %w: %s", err, output)
	}
	rewrite(value)
	raw, err := json.Marshal(value)
	return string(raw), err
}

func rewrite(value any) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			rewrite(v)
		}
	case map[string]any:
		for key, v := range value {
			value[key] = rewritten(key, v)
			rewrite(v)
		}
	}
}

var (
	moment    = regexp.MustCompile(`((?:renew|rebind|expire) )\d \d{4}/\d\d/\d\d \d\d:\d\d:\d\d;`)
	signature = regexp.MustCompile(`^[A-Za-z0-9_-]{80,}$`)
)

func rewritten(key string, value any) any {
	if ms, ok := value.(float64); ok && key == "average_rtt_ms" && ms > 0 && ms < 10_000 {
		return "RTT"
	}
	text, ok := value.(string)
	if !ok {
		return value
	}
	switch key {
	case "api_vip_lease", "ingress_vip_lease":
		return moment.ReplaceAllString(text, "${1}TIME;")
	case "payload", "protected":
		raw, err := base64.RawURLEncoding.DecodeString(text)
		var decoded any
		if err == nil && json.Unmarshal(raw, &decoded) == nil {
			return decoded
		}
	case "signature":
		if signature.MatchString(text) {
			return "SIGNATURE"
		}
	}
	return value
}
