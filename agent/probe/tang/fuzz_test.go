package tang

import "testing"

// FuzzParse: whatever a server answers is an advertisement with keys and a signature, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"payload":"P","signatures":[{"protected":"A","signature":"B"}]}`))
	f.Add([]byte(`{"payload":"P","protected":"A","signature":"B"}`))
	f.Add([]byte(`{"payload":1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if a, err := parse(body); err == nil && (a.Payload == "" || len(a.Signatures) == 0) {
			t.Errorf("taken without keys or signature: %q", body)
		}
	})
}
