// Package emulator holds the lab's BMCs: sushy-tools' Redfish emulator with a
// driver of our own (emulator.py), the types of what it sends to whoever plays
// the machines behind it, and a client for the machines' side. README.md has
// the contract; the lab package starts the emulator.
package emulator

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Program is the emulator's source, to be run by the Python environment that
// holds sushy-tools, with the path of a [Config] as its argument.
//
//go:embed emulator.py
var Program []byte

// Config is the emulator's configuration file. The fields that begin with
// SUSHY are sushy-tools' own.
type Config struct {
	StateDir    string   `json:"SUSHY_EMULATOR_STATE_DIR"`
	AuthFile    string   `json:"SUSHY_EMULATOR_AUTH_FILE"`
	Systems     []System `json:"SUSHY_EMULATOR_FAKE_SYSTEMS"`
	ListenHost  string   `json:"LISTEN_HOST"`
	ListenPort  int      `json:"LISTEN_PORT"`
	Certificate string   `json:"TLS_CERTIFICATE"`
	Key         string   `json:"TLS_KEY"`
	// NotifierURL receives the changes; empty means nobody does.
	NotifierURL string `json:"NOTIFIER_URL"`
	// NotifierCA is a file with the CA of an https notifier; empty means the
	// system's.
	NotifierCA string `json:"NOTIFIER_CA"`
	// NotifierCredentials are user:password, or empty for none.
	NotifierCredentials string `json:"NOTIFIER_CREDENTIALS"`
}

// Client speaks to the emulator from the machines' side.
type Client struct {
	// URL is the emulator's address without a path.
	URL string
	// User and Password are the emulator's credentials.
	User, Password string
	// HTTP must trust the emulator's certificate.
	HTTP *http.Client
}

// SystemURL is the Redfish address of a system.
func (c *Client) SystemURL(uuid string) string { return c.URL + "/redfish/v1/Systems/" + uuid }

// Add makes a system known, or replaces its values. Nobody is notified.
func (c *Client) Add(ctx context.Context, system System) error {
	system, err := system.Normalized()
	if err != nil {
		return err
	}
	return c.put(ctx, system.UUID, system)
}

// SetPower shows the system on or off, after the machine did that by itself.
// Nobody is notified.
func (c *Client) SetPower(ctx context.Context, uuid string, power Power) error {
	return c.put(ctx, uuid, map[string]Power{"power_state": power})
}

// Remove forgets a system.
func (c *Client) Remove(ctx context.Context, uuid string) error {
	return c.do(ctx, http.MethodDelete, uuid, nil)
}

// put sends values of a system's state.
func (c *Client) put(ctx context.Context, uuid string, values any) error {
	body, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("encode the state of system %s: %w", uuid, err)
	}
	return c.do(ctx, http.MethodPut, uuid, body)
}

// do makes one request about a system to the lab's own address.
func (c *Client) do(ctx context.Context, method, uuid string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, c.URL+"/lab/systems/"+uuid, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("tell the emulator about system %s: %w", uuid, err)
	}
	request.SetBasicAuth(c.User, c.Password)
	request.Header.Set("Content-Type", "application/json")
	// All requests here can be repeated: with a key, which is not sent when it is empty, net/http does so
	// when the emulator has just closed the kept connection that it took.
	request.Header["Idempotency-Key"] = []string{}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("tell the emulator about system %s: %w", uuid, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return fmt.Errorf("tell the emulator about system %s: %w", uuid, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("tell the emulator about system %s: %s: %s", uuid, response.Status, text)
	}
	return nil
}
