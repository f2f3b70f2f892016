package probe

import (
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// update reads how firmware can be updated.
func (p *probe) update() {
	f := get[updateService](p, p.root.value.UpdateService)
	if !f.read() {
		for _, name := range []string{SimpleUpdate, PushUpdate, FirmwareInventory} {
			p.set(f.missing(name, "UpdateService"))
		}
		return
	}
	simple := f.value.Actions.SimpleUpdate
	info := get[actionInfo](p, simple.Info)
	p.report.UpdateProtocols = updateProtocols(simple, info)
	p.report.MaxImageBytes = max(0, int64(f.value.MaxImageSizeBytes))
	if simple.Target == "" {
		p.set(no(SimpleUpdate, at(f.path, "there is no SimpleUpdate")))
	} else {
		p.set(yes(SimpleUpdate, strings.Join(p.report.UpdateProtocols, ", "), at(f.path, "#UpdateService.SimpleUpdate")))
	}
	switch {
	case f.value.MultipartHTTPPushURI != "":
		p.set(yes(PushUpdate, "multipart", at(f.path, "MultipartHttpPushUri")))
	case f.value.HTTPPushURI != "":
		p.set(yes(PushUpdate, "", at(f.path, "HttpPushUri")))
	default:
		p.set(no(PushUpdate, at(f.path, "there is no push URI")))
	}
	p.inventory = f.value.FirmwareInventory
}

// updateProtocols are the schemes of an image for SimpleUpdate.
func updateProtocols(simple action, info found[actionInfo]) []string {
	values := simple.Transfer.Value
	for _, parameter := range info.value.Parameters {
		if len(values) == 0 && parameter.Name == "TransferProtocol" {
			values = parameter.AllowableValues
		}
	}
	return schemes(values)
}

// events reads whether and how the BMC sends events.
func (p *probe) events() {
	f := get[eventService](p, p.root.value.EventService)
	if !f.read() {
		p.set(f.missing(Events, "EventService"), f.missing(EventStream, "EventService"))
		return
	}
	p.set(judgeEvents(f), judgeStream(f))
}

func judgeEvents(f found[eventService]) v1alpha1.Capability {
	e := f.value
	var by []string
	for _, kind := range []struct {
		name   string
		values lenient.List[lenient.String]
	}{{"types", e.EventTypes}, {"prefixes", e.RegistryPrefixes}, {"resources", e.ResourceTypes}} {
		if len(kind.values) > 0 {
			by = append(by, kind.name+" "+joined(kind.values))
		}
	}
	detail := strings.Join(by, "; ")
	switch {
	case e.Subscriptions.Path == "":
		return no(Events, at(f.path, "there are no Subscriptions"))
	case !e.ServiceEnabled.Set:
		c := unknown(Events, at(f.path, "ServiceEnabled is not there"))
		c.Detail = bounded(detail)
		return c
	case !bool(e.ServiceEnabled.Value):
		return no(Events, at(f.path, "ServiceEnabled is false: switch alerts on at the BMC"))
	}
	return yes(Events, detail, at(f.path, "ServiceEnabled, Subscriptions"))
}

func judgeStream(f found[eventService]) v1alpha1.Capability {
	if f.value.ServerSentEventURI == "" {
		return no(EventStream, at(f.path, "there is no ServerSentEventUri"))
	}
	return yes(EventStream, string(f.value.ServerSentEventURI), at(f.path, "ServerSentEventUri"))
}

// sessions reads how full the table of sessions is.
func (p *probe) sessions() {
	f := get[sessionService](p, p.root.value.SessionService)
	table := f.value.Sessions
	if table.Path == "" {
		table = p.root.value.Links.Sessions
	}
	open := getList(p, table, false)
	switch {
	case open.read():
		p.report.Sessions = &v1alpha1.SessionUse{Open: open.value.total, TimeoutSeconds: max(0, int64(f.value.SessionTimeout))}
		p.set(yes(Sessions, fmt.Sprintf("%d open, %d s", open.value.total, p.report.Sessions.TimeoutSeconds), at(open.path, "Members")))
	case open.path != "":
		p.set(open.missing(Sessions, "Sessions"))
	default:
		p.set(f.missing(Sessions, "SessionService"))
	}
}

// certificates looks for the way to replace the BMC's certificate.
func (p *probe) certificates() {
	if path := p.root.value.CertificateService.Path; path != "" {
		p.set(yes(Certificates, "", at(servicePath, "CertificateService")))
		return
	}
	f := get[networkProtocol](p, p.manager.value.NetworkProtocol)
	switch {
	case p.manager.err != nil:
		p.set(p.manager.missing(Certificates, "the manager"))
	case !f.read():
		p.set(f.missing(Certificates, "CertificateService, and NetworkProtocol of the manager,"))
	case f.value.HTTPS.Certificates.Path == "":
		p.set(no(Certificates, at(f.path, "HTTPS has no Certificates")))
	default:
		p.set(yes(Certificates, f.value.HTTPS.Certificates.Path, at(f.path, "HTTPS.Certificates")))
	}
}
