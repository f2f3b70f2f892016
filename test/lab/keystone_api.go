package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// User makes a user with a role on the whole system and one in the project of
// services. An empty role leaves that part out.
func (k *Keystone) User(ctx context.Context, name, password, systemRole, serviceRole string) error {
	var user struct {
		User struct{ ID string }
	}
	err := k.create(ctx, "users", "user", map[string]any{"name": name, "password": password, "domain_id": "default"}, &user)
	if err != nil {
		return err
	}
	if systemRole != "" {
		if err := k.grant(ctx, "/system/users/"+user.User.ID, systemRole); err != nil {
			return err
		}
	}
	if serviceRole == "" {
		return nil
	}
	project, err := k.find(ctx, "projects", ServiceProject)
	if err != nil {
		return err
	}
	return k.grant(ctx, "/projects/"+project+"/users/"+user.User.ID, serviceRole)
}

// SetPassword changes a user's password, which makes the user's tokens void.
func (k *Keystone) SetPassword(ctx context.Context, name, password string) error {
	user, err := k.find(ctx, "users", name)
	if err != nil {
		return err
	}
	return k.do(ctx, http.MethodPatch, "/users/"+user, map[string]any{"user": map[string]any{"password": password}}, nil)
}

// Service enters a service into the catalog.
func (k *Keystone) Service(ctx context.Context, kind, name, url string) error {
	var service struct {
		Service struct{ ID string }
	}
	if err := k.create(ctx, "services", "service", map[string]any{"type": kind, "name": name}, &service); err != nil {
		return err
	}
	return k.create(ctx, "endpoints", "endpoint", map[string]any{
		"service_id": service.Service.ID, "interface": "public", "region_id": k.Region, "url": url,
	}, nil)
}

// Revoke makes a token void.
func (k *Keystone) Revoke(ctx context.Context, token string) error {
	return k.do(ctx, http.MethodDelete, "/auth/tokens", nil, nil, "X-Subject-Token", token)
}

// create makes an object of a collection.
func (k *Keystone) create(ctx context.Context, collection, member string, object, answer any) error {
	return k.do(ctx, http.MethodPost, "/"+collection, map[string]any{member: object}, answer)
}

// find returns the id of the object of that name.
func (k *Keystone) find(ctx context.Context, collection, name string) (string, error) {
	found := map[string]json.RawMessage{}
	if err := k.do(ctx, http.MethodGet, "/"+collection+"?name="+name, nil, &found); err != nil {
		return "", err
	}
	var list []struct{ ID string }
	if err := json.Unmarshal(found[collection], &list); err != nil {
		return "", fmt.Errorf("read Keystone's %s: %w", collection, err)
	}
	if len(list) != 1 {
		return "", fmt.Errorf("keystone has %d %s named %q", len(list), collection, name)
	}
	return list[0].ID, nil
}

// grant gives a role; where is the scope's and user's path.
func (k *Keystone) grant(ctx context.Context, where, role string) error {
	id, err := k.find(ctx, "roles", role)
	if err != nil {
		return err
	}
	return k.do(ctx, http.MethodPut, where+"/roles/"+id, nil, nil)
}

// do makes a request as the administrator; headers are names and values in turn.
func (k *Keystone) do(ctx context.Context, method, path string, body, answer any, headers ...string) error {
	token, err := k.token(ctx)
	if err != nil {
		return err
	}
	_, err = k.request(ctx, method, path, body, answer, append(headers, "X-Auth-Token", token)...)
	return err
}

// token authenticates the administrator for the whole system.
func (k *Keystone) token(ctx context.Context) (string, error) {
	user := map[string]any{"name": keystoneAdmin, "password": k.password, "domain": map[string]any{"id": "default"}}
	header, err := k.request(ctx, http.MethodPost, "/auth/tokens", map[string]any{"auth": map[string]any{
		"identity": map[string]any{"methods": []string{"password"}, "password": map[string]any{"user": user}},
		"scope":    map[string]any{"system": map[string]any{"all": true}},
	}}, nil)
	return header.Get("X-Subject-Token"), err
}

// request makes one request and returns the answer's headers.
func (k *Keystone) request(ctx context.Context, method, path string, body, answer any, headers ...string) (http.Header, error) {
	var content []byte // none without a body: Keystone reads what there is
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, k.URL+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := k.lab.client("", "").Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil {
		return response.Header, nil
	}
	return response.Header, json.Unmarshal(text, answer)
}

// tokens is a transport that authenticates each request as the administrator.
type tokens struct {
	next     http.RoundTripper
	keystone *Keystone
}

// RoundTrip implements http.RoundTripper.
func (t tokens) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := t.keystone.token(request.Context())
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Header.Set("X-Auth-Token", token)
	return t.next.RoundTrip(request)
}
