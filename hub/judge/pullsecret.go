package judge

import (
	"encoding/json"

	"github.com/ironflow/ironflow/hub/refusal"
)

// PullSecret refuses what no container tool would read. The text is not repeated.
func PullSecret(text string) error {
	var secret struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if json.Unmarshal([]byte(text), &secret) != nil || secret.Auths == nil {
		return refusal.BadRequest(`pull_secret is not JSON with "auths"`)
	}
	return nil
}
