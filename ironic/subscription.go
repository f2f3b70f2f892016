package ironic

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Subscription is an event subscription on a node's BMC.
type Subscription struct {
	ID          string
	Destination string
	Context     string
	Headers     map[string]string // sent with each event; never read back
}

// passthru is the path of a vendor method.
func passthru(uuid, method string) string {
	return nodePath(uuid, "vendor_passthru") + "?" + url.Values{"method": {method}}.Encode()
}

// CreateSubscription subscribes a destination to the BMC's events and returns
// the subscription's id. Repeated after a crash it finds the one that exists,
// by destination and context.
func (g *Gateway) CreateSubscription(ctx context.Context, uuid string, s Subscription) (string, error) {
	there, err := g.Subscriptions(ctx, uuid)
	if err != nil {
		return "", err
	}
	for _, have := range there {
		if have.Destination == s.Destination && have.Context == s.Context {
			return have.ID, nil
		}
	}
	body := map[string]any{"Destination": s.Destination, "Context": s.Context}
	if len(s.Headers) > 0 {
		headers := make([]map[string]string, 0, len(s.Headers))
		for _, name := range sortedKeys(s.Headers) {
			headers = append(headers, map[string]string{name: s.Headers[name]})
		}
		body["HttpHeaders"] = headers
	}
	var answer struct {
		ID string `json:"Id"`
	}
	err = g.do(ctx, call{
		op: "create subscription", node: uuid, method: http.MethodPost,
		path: passthru(uuid, "create_subscription"), body: body, into: &answer,
	})
	return answer.ID, err
}

// Subscriptions lists the subscriptions that the BMC has, with destination and
// context.
func (g *Gateway) Subscriptions(ctx context.Context, uuid string) ([]Subscription, error) {
	var list struct {
		Members []struct {
			ID string `json:"@odata.id"`
		} `json:"Members"`
	}
	if err := g.get(ctx, "list subscriptions", uuid, passthru(uuid, "get_all_subscriptions"), &list); err != nil {
		return nil, err
	}
	var all []Subscription
	for _, m := range list.Members {
		id := path.Base(m.ID)
		var one struct {
			Destination string `json:"Destination"`
			Context     string `json:"Context"`
		}
		err := g.do(ctx, call{
			op: "get subscription", node: uuid, method: http.MethodGet,
			path: passthru(uuid, "get_subscription"), body: map[string]string{"id": id}, into: &one,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, Subscription{ID: id, Destination: one.Destination, Context: one.Context})
	}
	return all, nil
}

// DeleteSubscription ends a subscription; one that is gone counts as ended.
func (g *Gateway) DeleteSubscription(ctx context.Context, uuid, id string) error {
	err := ignoreGone(g.do(ctx, call{
		op: "delete subscription", node: uuid, method: http.MethodDelete,
		path: passthru(uuid, "delete_subscription"), body: map[string]string{"id": id},
	}))
	// Ironic answers 404 whatever the BMC's trouble was; only the text tells.
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusNotFound && strings.Contains(e.Text, "/"+id+" not found") {
		return nil
	}
	return err
}
