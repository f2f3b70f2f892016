package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
)

// open and end enclose a variable; a file that means the characters themselves doubles
// the first one. Neither systemd, the shell, Go templates nor printf use them.
const open, end, literal = "@{", "}", "@@{"

// letters are those of names of variables. What has others is no name that somebody
// mistyped, but may be a part of a secret, so errors do not repeat it.
const letters = "abcdefghijklmnopqrstuvwxyz._"

// values are what variables stand for; one that is empty has no value.
func values(o *sources.Order, h sources.Host) map[string]string {
	c := o.Cluster
	out := map[string]string{
		"cluster.id": c.ID, "cluster.name": c.Name, "cluster.domain": c.BaseDNSDomain, "cluster.version": c.OpenshiftVersion,
		"cluster.ssh_key": c.SSHPublicKey, "cluster.pull_secret": o.PullSecret, "cluster.api_vip": "", "cluster.ingress_vip": "", "cluster.machine_network": "",
		"host.id": h.ID, "host.name": h.Name, "host.role": string(h.Role), "host.mac": h.MAC, "host.disk": h.Disk,
		"host.address": "", "host.addresses": strings.Join(h.Addresses, ","), "host.bootstrap": strconv.FormatBool(h.Bootstrap),
	}
	if len(c.APIVIPs) > 0 {
		out["cluster.api_vip"] = string(c.APIVIPs[0].IP)
	}
	if len(c.IngressVIPs) > 0 {
		out["cluster.ingress_vip"] = string(c.IngressVIPs[0].IP)
	}
	if len(c.MachineNetworks) > 0 {
		out["cluster.machine_network"] = string(c.MachineNetworks[0].CIDR)
	}
	if len(h.Addresses) > 0 {
		out["host.address"] = h.Addresses[0]
	}
	return out
}

// fill puts the values into a file that is JSON. A value is escaped for the text that it
// is in: of JSON, and of a data URL as well where the text begins with data:. What is
// encoded in base64 is left as it is.
func fill(file string, raw []byte, known map[string]string) ([]byte, error) {
	var out bytes.Buffer
	in := text{start: -1}
	for i := 0; i < len(raw); {
		rest := raw[i:]
		switch {
		case bytes.HasPrefix(rest, []byte(literal)):
			out.WriteString(open)
			in.pass(raw, i, len(literal))
			i += len(literal)
		case bytes.HasPrefix(rest, []byte(open)):
			name, _, found := strings.Cut(string(rest[len(open):]), end)
			if !found || strings.ContainsAny(name, "\"\n") {
				return nil, at(file, raw, i, "a variable without its "+end+"; write "+literal+" for the characters themselves")
			}
			value, err := in.value(name, known, raw)
			if err != nil {
				return nil, at(file, raw, i, err.Error())
			}
			out.WriteString(value)
			i += len(open) + len(name) + len(end)
		default:
			out.WriteByte(raw[i])
			in.pass(raw, i, 1)
			i++
		}
	}
	return out.Bytes(), nil
}

// text follows which text of the JSON document a place is in.
type text struct {
	// start is where the text begins, behind its quote; -1 outside of texts.
	start   int
	escaped bool
}

// pass goes over characters of the document.
func (t *text) pass(raw []byte, from, length int) {
	for i := from; i < from+length; i++ {
		switch {
		case t.escaped:
			t.escaped = false
		case t.start >= 0 && raw[i] == '\\':
			t.escaped = true
		case raw[i] == '"' && t.start >= 0:
			t.start = -1
		case raw[i] == '"':
			t.start = i + 1
		}
	}
}

// value is what a variable becomes where the text is.
func (t *text) value(name string, known map[string]string, raw []byte) (string, error) {
	value, ok := known[name]
	switch {
	case !ok && strings.Trim(name, letters) != "":
		return "", fmt.Errorf("there is no such variable; docs/hub.md lists them, and %s stands for the characters themselves", literal)
	case !ok:
		return "", fmt.Errorf("there is no variable %.60q; docs/hub.md lists them, and %s stands for the characters themselves", name, literal)
	case value == "":
		return "", fmt.Errorf("variable %s has no value for host %s of cluster %s; set it, or write a file of the cluster's own without it", name, known["host.name"], known["cluster.name"])
	case t.start < 0:
		return "", fmt.Errorf("variable %s is outside of a text; put it between quotes", name)
	}
	if bytes.HasPrefix(raw[t.start:], []byte("data:")) {
		value = url.PathEscape(value)
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return string(quoted[1 : len(quoted)-1]), nil
}

// at says where in a file something is wrong. Values are not in it.
func at(file string, raw []byte, offset int, what string) error {
	before := raw[:offset]
	line, column := bytes.Count(before, []byte("\n"))+1, offset-bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: %s", file, line, column, what)
}
