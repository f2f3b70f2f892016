package probe

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// mostLicences bounds how many licences are read.
const mostLicences = 3

// licences reads the names of the licences, where the vendor has them.
func (p *probe) licences() {
	names, f := p.readLicences()
	p.report.Licences = distinct(names)
	switch {
	case len(names) > 0:
		p.set(yes(Licences, strings.Join(p.report.Licences, ", "), f.path))
	case f.read():
		p.set(no(Licences, at(f.path, "none is installed")))
	default:
		p.set(f.missing(Licences, "a licence service"))
	}
	p.set(updateLicence(p.vendor, p.report.Licences, f.read()))
}

// updateLicence judges whether updates are licensed.
func updateLicence(vendor string, names []string, read bool) v1alpha1.Capability {
	switch {
	case vendor != supermicro:
		return unknown(UpdateLicence, "this vendor does not say what it asks for")
	case !read:
		return unknown(UpdateLicence, "the licences cannot be read")
	}
	for _, name := range names {
		if strings.HasPrefix(name, "SFT-OOB-LIC") || strings.HasPrefix(name, "SFT-DCMS-SINGLE") {
			return yes(UpdateLicence, name, "the list of licences")
		}
	}
	return no(UpdateLicence, "neither SFT-OOB-LIC nor SFT-DCMS-SINGLE is installed")
}

// readLicences reads the vendor's place, else the standard one.
func (p *probe) readLicences() ([]string, found[list]) {
	m := p.manager.value
	switch p.vendor {
	case hpe:
		return p.licencesOfHPE()
	case supermicro:
		if manager := m.Oem.Supermicro.LicenseManager.Path; manager != "" {
			return p.licencesOfSupermicro(strings.TrimRight(manager, "/") + "/QueryLicense")
		}
		if p.manager.path != "" {
			return p.licencesOfSupermicro(strings.TrimRight(p.manager.path, "/") + "/LicenseManager/QueryLicense")
		}
	case dell:
		if link := m.Links.Oem.Dell.Licenses; link.Path != "" {
			return p.licenceList(link)
		}
	}
	service := get[licenceService](p, p.root.value.LicenseService)
	if service.path == "" && p.manager.err != nil { // which may have them
		return nil, found[list]{path: p.manager.path, err: p.manager.err}
	}
	if !service.read() {
		return nil, found[list]{path: service.path, err: service.err}
	}
	return p.licenceList(service.value.Licenses)
}

// licencesOfHPE takes the licence off the manager, where it stands already.
func (p *probe) licencesOfHPE() ([]string, found[list]) {
	for _, oem := range []managerOfHPE{p.manager.value.Oem.Hpe, p.manager.value.Oem.Hp} {
		if name := firstOf(oem.License.LicenseString); name != "" {
			return []string{name}, found[list]{path: p.manager.path}
		}
		if link := oem.Links.LicenseService; link.Path != "" {
			return p.licenceList(link)
		}
	}
	return nil, found[list]{path: unreadPath(p.manager), err: p.manager.err}
}

// unreadPath is the path of a resource that could not be read.
func unreadPath[T any](f found[T]) string {
	if f.err == nil {
		return ""
	}
	return f.path
}

// licenceList reads the members of a list of licences.
func (p *probe) licenceList(link lenient.Link) ([]string, found[list]) {
	listed := getList(p, link, true)
	if !listed.read() {
		return nil, listed
	}
	all := links[licence](listed.value.members)
	if unread := fill(p, all, inOrder(len(all)), p.budget.most(mostLicences), 0, nil); unread > 0 {
		p.remark("Not all licences were read, to spare the BMC.")
	}
	var names []string
	for _, f := range all {
		if name := licenceName(f); name != "" {
			names = append(names, name)
		}
	}
	return names, listed
}

// licenceName is the name of a licence that is valid. Lenovo's stands in its Id.
func licenceName(f found[licence]) string {
	state := string(f.value.Status.State)
	switch {
	case !f.read():
		return ""
	case state != "" && state != "Enabled":
		return ""
	}
	for _, description := range f.value.LicenseDescription {
		if name := cleaned(string(description)); name != "" {
			return bounded(name)
		}
	}
	return bounded(firstOf(f.value.License, f.value.ID, f.value.Name))
}

// licencesOfSupermicro reads a list of texts that hold JSON each.
func (p *probe) licencesOfSupermicro(path string) ([]string, found[list]) {
	f := get[struct{ Licenses lenient.List[lenient.String] }](p, lenient.Link{Path: path})
	return productKeys(f.value.Licenses), found[list]{path: f.path, err: f.err}
}

// productKeys are the names in Supermicro's licences.
func productKeys(licences lenient.List[lenient.String]) []string {
	var names []string
	for _, text := range licences {
		var key struct {
			ProductKey struct {
				Node struct{ LicenseName lenient.String }
			}
		}
		if err := json.Unmarshal([]byte(text), &key); err != nil && !lenient.OnlyTypes(err) {
			continue
		}
		if name := firstOf(key.ProductKey.Node.LicenseName); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
