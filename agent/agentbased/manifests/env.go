package manifests

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// pullSecretKey is the key of a Secret that holds the registries' credentials.
const pullSecretKey = ".dockerconfigjson" //nolint:gosec // a name

// pullSecretName is what a Secret is called that is not a person's own.
const pullSecretName = "pull-secret"

// pullSecret reads the Secret; no message quotes it.
func (r *reader) pullSecret(name string) {
	at, secret := one[Secret](r, name, "v1")
	if r.secret = at; secret == nil {
		return
	}
	path := join("stringData", pullSecretKey)
	content, plain := secret.StringData[pullSecretKey]
	encoded, inData := secret.Data[pullSecretKey]
	switch {
	case plain && inData:
		at.wrong(join("data", pullSecretKey), "is there beside %s: keep one", path)
	case inData:
		path = join("data", pullSecretKey)
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			at.wrong(path, "is no base64: write the JSON into %s", join("stringData", pullSecretKey))
			return
		}
		content = string(raw)
	case !plain:
		at.missing(path, `the JSON {"auths": …} of the registries' credentials`)
		return
	}
	if !isPullSecret(content) {
		at.wrong(path, `is no pull secret: write JSON with a member "auths", such as {"auths": {}}`)
		return
	}
	r.set.PullSecret = content
}

func (r *reader) checkEnv(e *InfraEnv) {
	at, s := r.env, &e.Spec
	checkProxy(at, "spec.proxy", s.Proxy)
	at.oneOf("spec.cpuArchitecture", s.CPUArchitecture, "x86_64", "aarch64", "arm64", "ppc64le", "s390x")
	at.oneOf("spec.imageType", s.ImageType, "full-iso", "minimal-iso")
	if a := s.AgentApproval; a != nil && !a.AutoApprove {
		at.wrong("spec.agentApproval.autoApprove", "is not true: take spec.agentApproval away, hosts of an agent-based installation start approved")
	}
	for i, a := range s.KernelArguments {
		path := fmt.Sprintf("spec.kernelArguments[%d]", i)
		if a.Operation == "" || a.Value == "" {
			at.wrong(path, "is incomplete: write operation (append, replace or delete) and value")
		}
		at.oneOf(path+".operation", a.Operation, "append", "replace", "delete")
	}
	if text := s.IgnitionConfigOverride; text != "" && !json.Valid([]byte(text)) {
		at.wrong("spec.ignitionConfigOverride", "is no JSON: write Ignition's")
	}
	if d := s.NetworkDiscoveryDelay; d != nil && *d < 0 {
		at.wrong("spec.networkDiscoveryDelaySeconds", "is %d: write how many seconds a host waits for its cards, from 0 on", *d)
	}
	if s.PullSecretRef != nil && r.secret != nil && s.PullSecretRef.Name == "" {
		at.missing("spec.pullSecretRef.name", "the name of the pull secret")
	}
}

// nmstate reads the networks of hosts: the documents of one file.
func (r *reader) nmstate(name string) {
	raw := r.read(name, true)
	owners := map[string]string{}
	for _, d := range r.documents(name, raw) {
		before := len(r.problems)
		config := object[NMStateConfig](&d, "agent-install.openshift.io/v1beta1")
		if config == nil {
			continue
		}
		r.checkNetwork(d.place, config, owners, len(r.problems) == before)
		r.set.NMStateConfigs = append(r.set.NMStateConfigs, *config)
		r.networks = append(r.networks, d.place)
	}
}

// checkNetwork checks one network by itself, and its cards against those before it. What
// is in a document that is not sound is not looked at once more.
func (r *reader) checkNetwork(at *place, c *NMStateConfig, owners map[string]string, sound bool) {
	cards := checkCards(at, "spec.interfaces", c.Spec.Interfaces, owners, fmt.Sprintf("document %d", at.number))
	if c.Spec.Config.IsZero() {
		at.missing("spec.config", "the host's network in nmstate's form; a host with DHCP needs no NMStateConfig")
	} else if sound {
		checkNMState(at, "spec.config", c.Spec.Config, cards)
	}
	r.checkLabels(at, c)
}

// checkNMState tells of what is no network of nmstate's.
func checkNMState(at *place, path string, config Free, cards map[string]string) {
	text, err := config.YAML()
	if err == nil {
		_, err = network.Translate([]byte(text), cards)
	}
	if err != nil && !network.LeftToNmstatectl(err) {
		at.wrong(path, "is not nmstate's: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
}

// checkCards tells of cards that cannot be told apart, and returns them by their names.
func checkCards(at *place, list string, all []Card, owners map[string]string, owned string) map[string]string {
	if len(all) == 0 {
		at.missing(list, "name and macAddress of each card, so that the host can be told")
	}
	cards := map[string]string{}
	for i, card := range all {
		path := fmt.Sprintf("%s[%d]", list, i)
		if card.Name == "" {
			at.missing(path+".name", "the card's name in spec.config, such as eno1")
		}
		mac, err := net.ParseMAC(card.MACAddress)
		owner, taken := owners[mac.String()]
		switch {
		case card.MACAddress == "":
			at.missing(path+".macAddress", "the card's MAC address, such as 02:00:00:00:00:01")
			continue
		case err != nil || len(mac) != len(net.HardwareAddr{5: 0}):
			at.wrong(path+".macAddress", "is %.60q: write a MAC address, such as 02:00:00:00:00:01", card.MACAddress)
			continue
		case taken:
			at.wrong(path+".macAddress", "is %s, which %s has already: one card is of one host", mac, owner)
		case cards[card.Name] != "":
			at.wrong(path+".name", "is %.60q, as of another card: write names that differ", card.Name)
		}
		owners[mac.String()], cards[card.Name] = owned, card.MACAddress
	}
	return cards
}

// checkLabels compares the network's labels with those that the InfraEnv selects by.
func (r *reader) checkLabels(at *place, c *NMStateConfig) {
	if r.set.InfraEnv == nil {
		return
	}
	const selector = "spec.nmStateConfigLabelSelector.matchLabels"
	want := r.set.InfraEnv.Spec.NMStateConfigLabelSelector.MatchLabels
	switch {
	case len(want) == 0:
		r.env.wrong(selector, "is missing: write the labels of the NMStateConfigs in %s", at.file)
	case !maps.Equal(want, c.Metadata.Labels):
		at.wrong("metadata.labels", "are %s, and %s selects by %s: write the same", labels(c.Metadata.Labels), r.env.file, labels(want))
	}
}

// labels are written as Kubernetes' command line does.
func labels(of map[string]string) string {
	if len(of) == 0 {
		return "none"
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%.80s=%.80s", key, of[key]))
	}
	return strings.Join(out, ",")
}
