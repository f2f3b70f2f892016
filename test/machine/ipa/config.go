package ipa

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// inspectionPath is where Ironic takes inventories.
const inspectionPath = "/v1/continue_inspection"

// Config is the part of ironic-python-agent.conf that the agent acts on.
type Config struct {
	// APIURLs are Ironic's base URLs, tried in this order.
	APIURLs []string
	// InspectionURLs are complete URLs that take the inventory. Empty: no inspection.
	InspectionURLs []string
	// Collectors are the inspection collectors, sent along with the inventory.
	Collectors []string
	// CAFile is a PEM bundle that replaces the system's CAs for Ironic. A path as the host sees it.
	CAFile string
	// Insecure skips the check of Ironic's certificate.
	Insecure bool
}

// ReadConfig reads an oslo.config file; only section [DEFAULT] matters here.
// Options that the real agent knows and this one has no use for are passed over.
func ReadConfig(r io.Reader) (Config, error) {
	options, err := readDefaults(r)
	if err != nil {
		return Config{}, err
	}
	c := Config{
		APIURLs:    list(options["api_url"]),
		Collectors: list(options["inspection_collectors"]),
		CAFile:     options["cafile"],
		Insecure:   strings.EqualFold(options["insecure"], "true"),
	}
	if len(c.APIURLs) == 0 {
		return Config{}, fmt.Errorf("ironic-python-agent.conf: api_url is not set in section [DEFAULT]: the agent cannot find Ironic")
	}
	for i, raw := range c.APIURLs {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			return Config{}, fmt.Errorf("ironic-python-agent.conf: api_url: %q is not a URL", raw)
		}
		c.APIURLs[i] = strings.TrimRight(raw, "/")
	}
	c.InspectionURLs = list(options["inspection_callback_url"])
	if len(c.InspectionURLs) == 0 && len(c.Collectors) > 0 {
		for _, base := range c.APIURLs {
			c.InspectionURLs = append(c.InspectionURLs, base+inspectionPath)
		}
	}
	if len(c.Collectors) == 0 {
		c.Collectors = []string{"default"}
	}
	return c, nil
}

func readDefaults(r io.Reader) (map[string]string, error) {
	options := map[string]string{}
	section := ""
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				return nil, fmt.Errorf("ironic-python-agent.conf, line %d: want KEY = VALUE, found %q", n, line)
			}
			if section == "DEFAULT" {
				options[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
	}
	return options, lines.Err()
}

func list(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
