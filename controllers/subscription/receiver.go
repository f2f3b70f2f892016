package subscription

import (
	"net/url"
	"strings"
)

// receiver is what may be told of a destination: who it is. The rest is nobody else's
// business: receivers of webhooks know a sender by its user part, path or query.
func receiver(destination string) string {
	u, err := url.Parse(destination)
	if err != nil || u.Host == "" {
		return "the destination of the spec"
	}
	return u.Scheme + "://" + u.Host
}

// shortestPath keeps a path that says nothing, such as "/x", from shredding sentences.
const shortestPath = 4

// withoutDestination takes a destination out of a text of Ironic or the BMC, which repeat
// what they refuse.
func withoutDestination(text, destination string) string {
	text = strings.ReplaceAll(text, destination, receiver(destination))
	u, err := url.Parse(destination)
	if err != nil {
		return text
	}
	secrets := []string{u.RequestURI(), u.Path, u.RawQuery}
	if u.User != nil {
		secrets = append(secrets, u.User.String())
	}
	for _, part := range secrets {
		if len(part) >= shortestPath {
			text = strings.ReplaceAll(text, part, "…")
		}
	}
	return text
}
