package ignition

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// problems collects what is wrong, each with the path of its field.
type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, fmt.Errorf(field+": "+format, args...))
}

var (
	uuid     = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	hostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
	word     = regexp.MustCompile(`^[^\s"'\\;]+$`)
)

// validate checks all that the renderers rely on.
func (c HostConfig) validate() error {
	var p problems
	if c.IPA != nil {
		c.IPA.validate(&p)
	}
	if c.Agent != nil {
		c.Agent.validate(&p, c.IPA != nil)
	}
	for i, key := range c.SSHKeys {
		if _, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(key)); err != nil || len(strings.TrimSpace(string(rest))) > 0 {
			p.add(fmt.Sprintf("sshKeys[%d]", i), "not one line of an authorized_keys file")
		}
	}
	if c.PullSecret != "" && !json.Valid([]byte(c.PullSecret)) {
		p.add("pullSecret", "not valid JSON")
	}
	for i, server := range c.NTPServers {
		if !word.MatchString(server) {
			p.add(fmt.Sprintf("ntpServers[%d]", i), "%q is not a host name or address", server)
		}
	}
	p.pem("caBundle", c.CABundle)
	p.proxy("proxy", c.Proxy)
	for _, name := range slices.Sorted(maps.Keys(c.Keyfiles)) {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			p.add(fmt.Sprintf("keyfiles[%q]", name), "the name must be a plain file name")
		}
	}
	return errors.Join(p...)
}

func (a *IPA) validate(p *problems) {
	if len(a.APIURLs) == 0 {
		p.add("ipa.apiURLs", "at least one URL of Ironic is needed")
	}
	p.urls("ipa.apiURLs", a.APIURLs)
	p.urls("ipa.inspectionURLs", a.InspectionURLs)
	p.pem("ipa.ca", a.CA)
	switch {
	case a.Image == "" && len(a.Command) == 0:
		p.add("ipa.image", "the container image of ironic-python-agent is not set")
	case a.Image != "" && len(a.Command) > 0:
		p.add("ipa.command", "give either an image or a command")
	case a.Image != "" && !word.MatchString(a.Image):
		p.add("ipa.image", "%q is not an image reference", a.Image)
	}
	for i, w := range a.Command {
		if !word.MatchString(w) {
			p.add(fmt.Sprintf("ipa.command[%d]", i), "%q must be one word without quotes", w)
		}
	}
	if a.DefaultHostname != "" && !hostname.MatchString(a.DefaultHostname) {
		p.add("ipa.defaultHostname", "%q is not a host name", a.DefaultHostname)
	}
	p.line("ipa.ipOptions", a.IPOptions)
	p.line("ipa.vlanInterfaces", a.VLANInterfaces)
}

func (a *Agent) validate(p *problems, hasIPA bool) {
	if a.Image != "" && !word.MatchString(a.Image) {
		p.add("agent.image", "%q is not an image reference", a.Image)
	}
	p.urls("agent.url", []string{a.URL})
	if !uuid.MatchString(a.InfraEnvID) {
		p.add("agent.infraEnvID", "%q is not a UUID", a.InfraEnvID)
	}
	if !word.MatchString(a.Version) {
		p.add("agent.version", "%q must be one word, usually an image reference", a.Version)
	}
	p.line("agent.token", string(a.Token))
	p.pem("agent.ca", a.CA)
	p.proxy("agent.proxy", a.Proxy)
	if a.Gate && !hasIPA {
		p.add("agent.gate", "without IPA nobody would open the gate")
	}
	d := a.Deadlines
	if d.StartSeconds < 0 || d.IdleSeconds < 0 || d.TotalSeconds < 0 {
		p.add("agent.deadlines", "seconds cannot be negative")
	}
}

// urls wants absolute http or https URLs without anything that a unit file or a
// configuration file would cut.
func (p *problems) urls(field string, all []string) {
	for i, raw := range all {
		at := field
		if len(all) > 1 {
			at = fmt.Sprintf("%s[%d]", field, i)
		}
		u, err := url.Parse(strings.TrimSpace(raw))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(raw, " ,\"'\\\n") {
			p.add(at, "%q is not an http or https URL", raw)
		}
	}
}

func (p *problems) proxy(field string, proxy Proxy) {
	for _, side := range [...]struct{ name, raw string }{{"http", proxy.HTTP}, {"https", proxy.HTTPS}} {
		if side.raw == "" {
			continue
		}
		if u, err := url.Parse(side.raw); err != nil || u.Host == "" {
			// The value may hold a password, so it is not repeated.
			p.add(field+"."+side.name, "not a URL")
		}
		p.line(field+"."+side.name, side.raw)
	}
	p.line(field+".no", proxy.No)
}

func (p *problems) line(field, text string) {
	if strings.ContainsAny(text, "\n\r\x00") {
		p.add(field, "must be a single line")
	}
}

// pem wants at least one certificate, and nothing but certificates.
func (p *problems) pem(field, text string) {
	if text == "" {
		return
	}
	rest, count := []byte(text), 0
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); block.Type != "CERTIFICATE" || err != nil {
			p.add(field, "PEM block %d (%s) is not a certificate", count+1, block.Type)
			return
		}
		count++
	}
	if count == 0 {
		p.add(field, "holds no PEM certificate")
	}
}
