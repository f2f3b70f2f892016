package bios_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/bios"
)

const (
	system  = "/redfish/v1/Systems/1"
	biosAt  = system + "/Bios"
	pending = biosAt + "/Settings"
	listed  = "/redfish/v1/Registries"
	file    = listed + "/BiosAttributeRegistry.v1_0_0"
	body    = "/store/registry.json"
)

// bmc answers by path.
type bmc map[string]string

var errMissing = errors.New("404")

func (b bmc) Get(_ context.Context, path string, into any) error {
	raw, ok := b[path]
	if !ok {
		return errMissing
	}
	return json.Unmarshal([]byte(raw), into)
}

func (b bmc) Members(_ context.Context, path string, _ int) ([]string, bool, error) {
	raw, ok := b[path]
	if !ok {
		return nil, false, errMissing
	}
	var list []string
	err := json.Unmarshal([]byte(raw), &list)
	return list, true, err
}

// served is a BMC that has everything.
func served(changes ...string) bmc {
	b := bmc{
		system:  `{"Bios": {"@odata.id": "` + biosAt + `"}}`,
		biosAt:  `{"AttributeRegistry": "BiosAttributeRegistry.v1_0_3", "Attributes": {"A": "On", "B": 5, "C": null, "D": true}, "@Redfish.Settings": {"SettingsObject": {"@odata.id": "` + pending + `"}}}`,
		pending: `{"Attributes": {"A": "Off", "B": 5}}`,
		listed:  `["` + listed + `/Base.1.0", "` + file + `"]`,
		file:    `{"Location": [{"Language": "de", "Uri": "/store/de.json"}, {"Language": "en-US", "Uri": {"@odata.id": "` + body + `"}}]}`,
		body:    string(registry(`{"AttributeName": "A", "Type": "String"}`, "")),
	}
	for i := 0; i < len(changes); i += 2 {
		if b[changes[i]] = changes[i+1]; changes[i+1] == "" {
			delete(b, changes[i])
		}
	}
	return b
}

func TestRead(t *testing.T) {
	g := NewWithT(t)
	s, r, err := bios.Read(t.Context(), served(), bios.Where{System: system})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Current).To(Equal(map[string]any{"A": "On", "B": json.Number("5"), "C": nil, "D": true}))
	g.Expect(s.Pending).To(Equal(map[string]any{"A": "Off"}), "what is the same is not pending")
	g.Expect(s.Names()).To(Equal([]string{"A", "B", "C", "D"}))
	g.Expect(r.Attribute("A")).NotTo(BeNil(), "another version of the registry counts")
}

func TestReadFindsTheRegistry(t *testing.T) {
	none := `{"Attributes": {"A": "On"}}`
	cases := map[string]struct {
		bmc   bmc
		where bios.Where
		want  string
	}{
		"where the report says":         {served(listed, ""), bios.Where{RegistryPath: file}, ""},
		"the file itself":               {served(listed, "", file, ""), bios.Where{RegistryPath: body}, ""},
		"without a name":                {served(biosAt, none), bios.Where{}, ""},
		"by its prefix alone":           {served(biosAt, `{"AttributeRegistry": "BiosAttributeRegistry"}`), bios.Where{}, ""},
		"no English":                    {served(file, `{"Location": [{"Language": "de", "Uri": "`+body+`"}]}`), bios.Where{}, ""},
		"one place instead of a list":   {served(file, `{"Location": {"Uri": {"extref": "`+body+`"}}}`), bios.Where{}, ""},
		"no list of registries":         {served(listed, ""), bios.Where{}, "read the registry of the BIOS settings: 404"},
		"not in the list":               {served(listed, `["/redfish/v1/Registries/Base.1.0"]`), bios.Where{}, `none of 1 registries is called "BiosAttributeRegistry.v1_0_3"`},
		"named and not served":          {served(body, ""), bios.Where{}, "404"},
		"a file without a place":        {served(file, `{"Location": []}`), bios.Where{}, "names no place"},
		"a file that leads to no place": {served(body, `{}`), bios.Where{}, "no attribute registry"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c.where.System = system
			s, r, err := bios.Read(t.Context(), c.bmc, c.where)
			g.Expect(s).NotTo(BeNil(), "the settings are there all the same")
			if c.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.want)))
				g.Expect(r).To(BeNil())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Len()).To(Equal(1))
		})
	}
}

func TestReadSettings(t *testing.T) {
	g := NewWithT(t)
	_, _, err := bios.Read(t.Context(), served(system, "{}"), bios.Where{System: system})
	g.Expect(err).To(MatchError(bios.ErrNoSettings))
	_, _, err = bios.Read(t.Context(), served(system, ""), bios.Where{System: system})
	g.Expect(err).To(MatchError(errMissing))
	_, _, err = bios.Read(t.Context(), served(biosAt, ""), bios.Where{System: system})
	g.Expect(err).To(MatchError(errMissing))
	s, _, err := bios.Read(t.Context(), served(pending, ""), bios.Where{System: system})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Pending).To(BeNil(), "not known")
	s, _, err = bios.Read(t.Context(), served(pending, "{}"), bios.Where{System: system})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Pending).To(And(BeEmpty(), Not(BeNil())), "none")
}

func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(`{"AttributeRegistry": null, "Attributes": {"A": 1, "B": {}}, "@Redfish.Settings": []}`), []byte(`{"Attributes": {"A": "1", "C": 2}}`))
	f.Add([]byte(`{"Attributes": []}`), []byte(``))
	f.Fuzz(func(t *testing.T, current, next []byte) {
		s, err := bios.ParseSettings(current, next)
		if err != nil && s == nil {
			return
		}
		g := NewWithT(t)
		g.Expect(slices.IsSorted(s.Names())).To(BeTrue())
		for name, v := range s.Pending {
			g.Expect(bios.Same(s.Current[name], v) && s.Current[name] != nil).To(BeFalse(), name)
			bios.Text(v)
		}
	})
}
