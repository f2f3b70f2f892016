package contract

import (
	"net/http"
	"slices"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"
)

// The settings of simulator.DefaultBIOS that the cases change.
const (
	setting  = "ProcVirtualization"
	number   = "PowerDelaySeconds"
	yesNo    = "QuietBoot"
	secret   = "SetupPassword"
	readOnly = "SystemBiosDate"
)

// bios reads the settings.
func (w *World) bios() *schemas.Bios {
	w.T.Helper()
	b, err := w.System().Bios()
	w.Expect(err).NotTo(HaveOccurred())
	return b
}

// pending reads the settings that wait for a reset.
func (w *World) pending() []byte {
	w.T.Helper()
	return w.Do(http.MethodGet, w.systemPath()+"/Bios/Settings", nil).body
}

func biosSettings(w *World) {
	b := w.bios()
	w.Expect(b.Attributes).To(And(HaveKeyWithValue(setting, "Enabled"), HaveKeyWithValue(number, 60.0), HaveKeyWithValue(yesNo, true)))
	w.Expect(b.Attributes).To(HaveKeyWithValue(secret, BeNil()), "passwords are not shown")
	w.Expect(b.AllowedAttributeUpdateApplyTimes()).To(ConsistOf(schemas.OnResetSettingsApplyTime))
}

func biosApplied(w *World) {
	w.Boots()
	w.Expect(w.bios().UpdateBiosAttributes(schemas.SettingsAttributes{setting: "Disabled", number: 90, yesNo: false, secret: "hush"})).To(Succeed())
	w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Enabled"), "until the reset")
	w.Expect(w.pending()).To(And(ContainSubstring(setting), Not(ContainSubstring("hush"))))
	w.Reset(schemas.ForceOffResetType)
	w.UntilPower(schemas.OffPowerState)
	w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Enabled"), "switching off does not apply them")
	w.Boots()
	w.Expect(w.bios().Attributes).To(And(HaveKeyWithValue(setting, "Disabled"), HaveKeyWithValue(number, 90.0), HaveKeyWithValue(yesNo, false)))
	w.Expect(w.pending()).NotTo(ContainSubstring(setting))
}

func biosRefused(w *World) {
	settings := w.systemPath() + "/Bios/Settings"
	for name, attributes := range map[string]any{
		"unknown": map[string]any{"Nonsense": 1}, "read-only": map[string]any{readOnly: "2030-01-01"}, "not in the list": map[string]any{setting: "Perhaps"},
		"too low": map[string]any{number: 1}, "not whole": map[string]any{number: 61.5}, "not a number": map[string]any{number: "90"},
		"not true or false": map[string]any{yesNo: "true"}, "not a text": map[string]any{setting: true}, "too long": map[string]any{secret: "0123456789012345678901234567890123"},
		"no attributes": nil,
	} {
		w.Expect(w.Do(http.MethodPatch, settings, map[string]any{"Attributes": attributes}).status).To(Equal(http.StatusBadRequest), name)
	}
	w.Expect(w.pending()).NotTo(ContainSubstring(number), "nothing of it is kept")
}

func biosDefaults(w *World) {
	w.Expect(w.bios().UpdateBiosAttributes(schemas.SettingsAttributes{setting: "Disabled"})).To(Succeed())
	w.Boots()
	_, err := w.bios().ResetBios()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Disabled"))
	w.Boots()
	w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Enabled"))
}

func biosRegistry(w *World) {
	files, err := w.API.GetService().Registries()
	w.Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(files, func(f *schemas.MessageRegistryFile) bool { return f.Registry == w.bios().AttributeRegistry })
	w.Expect(i).To(BeNumerically(">=", 0), "the registry that the BIOS names is there")
	registry, err := schemas.GetAttributeRegistry(w.API, files[i].Location[0].URI)
	w.Expect(err).NotTo(HaveOccurred())
	entries := registry.RegistryEntries.Attributes
	for name := range w.bios().Attributes {
		w.Expect(entries).To(ContainElement(HaveField("AttributeName", name)), "each setting is described")
	}
	w.Expect(entries).To(ContainElement(And(HaveField("AttributeName", setting), HaveField("Type", BeEquivalentTo("Enumeration")),
		HaveField("Value", ContainElement(HaveField("ValueName", "Disabled"))))))
	w.Expect(entries).To(ContainElement(And(HaveField("AttributeName", readOnly), HaveField("ReadOnly", true))))
	w.Expect(w.Do(http.MethodGet, files[i].ODataID+"0", nil).status).To(Equal(http.StatusNotFound))
	w.Expect(w.Do(http.MethodGet, files[i].Location[0].URI+"0", nil).status).To(Equal(http.StatusNotFound))
}
