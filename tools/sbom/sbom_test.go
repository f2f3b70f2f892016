package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

// document is what is read of a bill of materials here.
type document struct {
	SerialNumber string
	Metadata     map[string]any
	Components   []struct{ Type, Name, Version, PURL string }
	Dependencies []struct {
		Ref       string
		DependsOn []string
	}
}

// dpkgStatus has a package that is installed, and what is left of one that was.
const dpkgStatus = `Package: libstdc++6
Status: install ok installed
Architecture: amd64
Version: 1:12.2.0-14+deb12u1
Description: GNU Standard C++ Library v3
 Homepage: of nobody

Package: python3-venv
Status: deinstall ok config-files
Architecture: amd64
Version: 3.11.2-1
`

// write makes the document of this test's own program and a plain file, and returns its bytes.
func write(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	plain, debian, pypi, out := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "status"), filepath.Join(dir, "pip.json"), filepath.Join(dir, "out.cdx.json")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{plain: "certificates", debian: dpkgStatus, pypi: `[{"name": "oslo_config", "version": "10.7.0"}]`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"--name", "it", "--version", "v0.1.0", "--type", "container", "--out", out, "--debian", debian, "--pypi", pypi, "/it=" + self, "/etc/ca.crt=" + plain}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestTheSchemaTakesIt: the published schema of CycloneDX 1.6, which the module has beside its code.
func TestTheSchemaTakesIt(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(dir)), "schema")
	loader := gojsonschema.NewSchemaLoader()
	for name, file := range map[string]string{"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		raw, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := loader.AddSchema("http://cyclonedx.org/schema/"+name, gojsonschema.NewBytesLoader(raw)); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(folder, "bom-1.6.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := loader.Compile(gojsonschema.NewBytesLoader(raw))
	if err != nil {
		t.Fatal(err)
	}
	result, err := schema.Validate(gojsonschema.NewBytesLoader(write(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Errors() {
		t.Error(e)
	}
}

// TestEveryModuleIsInIt with its version, and the program depends on it; so are the packages of an image. There is no time, and a second document is the same.
func TestEveryModuleIsInIt(t *testing.T) {
	raw := write(t)
	if string(raw) != string(write(t)) {
		t.Error("the same files give another document")
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	if _, found := d.Metadata["timestamp"]; found || !strings.HasPrefix(d.SerialNumber, "urn:uuid:") {
		t.Errorf("serial number %q, metadata %v", d.SerialNumber, d.Metadata)
	}
	versions, uses := map[string]string{}, map[string]string{}
	for _, c := range d.Components {
		versions[c.Name] = c.Version
	}
	for _, on := range d.Dependencies {
		uses[on.Ref] = strings.Join(on.DependsOn, " ") + " "
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil || len(info.Deps) == 0 {
		t.Fatal(info, err)
	}
	for _, m := range info.Deps {
		if versions[m.Path] != m.Version || !strings.Contains(uses["file:/it"], purl(m.Path, m.Version)+" ") {
			t.Errorf("%s %s is in it as %q; the program uses %s", m.Path, m.Version, versions[m.Path], uses["file:/it"])
		}
	}
	if want := strings.TrimPrefix(info.GoVersion, "go"); versions["stdlib"] != want {
		t.Errorf("Go %s, want %s", versions["stdlib"], want)
	}
	const debian, pypi = "pkg:deb/debian/libstdc%2B%2B6@1:12.2.0-14%2Bdeb12u1?arch=amd64", "pkg:pypi/oslo-config@10.7.0"
	if versions["libstdc++6"] != "1:12.2.0-14+deb12u1" || versions["oslo-config"] != "10.7.0" {
		t.Errorf("packages: %v", versions)
	}
	if uses["artifact"] != "file:/etc/ca.crt file:/it "+debian+" "+pypi+" " {
		t.Errorf("the artifact is made of %s", uses["artifact"])
	}
}

// TestWhatIsRefused: a call that would write a document of less than was meant.
func TestWhatIsRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for want, args := range map[string][]string{
		"usage:":             {"--name", "it", "--out", out, "/it=/it"},
		"is not PLACE=FILE":  {"--name", "it", "--version", "v1", "--out", out, "/it"},
		"no such file or di": {"--name", "it", "--version", "v1", "--out", out, "/it=/nowhere"},
		"no installed packa": {"--name", "it", "--version", "v1", "--out", out, "--debian", "main.go", "/it=main.go"},
		"invalid character":  {"--name", "it", "--version", "v1", "--out", out, "--pypi", "main.go", "/it=main.go"},
		"no such file":       {"--name", "it", "--version", "v1", "--out", out, "--debian", "/nowhere", "/it=main.go"},
	} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
