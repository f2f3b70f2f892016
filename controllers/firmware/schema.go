package firmware

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// secretName marks settings that are neither shown nor set.
const secretName = "Password"

// schemaDigits is how many hexadecimal digits of the content's hash a schema's
// name carries.
const schemaDigits = 8

// settingValues are the machine's settings by name, without passwords. What
// Ironic makes of switches depends on its database (1, True); wishes have them as
// the API does (true).
func settingValues(settings []ironic.BIOSSetting) metal3.SettingsMap {
	values := metal3.SettingsMap{}
	for _, s := range settings {
		if secret(s) {
			continue
		}
		values[s.Name] = s.Value
		if on, err := strconv.ParseBool(s.Value); err == nil && s.AttributeType == "Boolean" {
			values[s.Name] = strconv.FormatBool(on)
		}
	}
	return values
}

// schemaOf describes the settings, without passwords.
func schemaOf(settings []ironic.BIOSSetting) map[string]metal3.SettingSchema {
	schema := map[string]metal3.SettingSchema{}
	for _, s := range settings {
		if secret(s) {
			continue
		}
		schema[s.Name] = metal3.SettingSchema{
			AttributeType: s.AttributeType, AllowableValues: s.AllowableValues,
			LowerBound: s.LowerBound, UpperBound: s.UpperBound, MinLength: s.MinLength, MaxLength: s.MaxLength,
			ReadOnly: s.ReadOnly, Unique: s.Unique,
		}
	}
	return schema
}

func secret(s ironic.BIOSSetting) bool {
	return s.AttributeType == secretName || strings.Contains(s.Name, secretName)
}

// schemaName is the name of a schema by its content, so that equal machines
// share one object: "schema-" and the start of the SHA-256 of the sorted list of
// names, types, values, bounds and read_only.
func schemaName(schema map[string]metal3.SettingSchema) string {
	var parts []string
	number := func(n *int) {
		if n != nil {
			parts = append(parts, strconv.Itoa(*n))
		}
	}
	for name, s := range schema {
		parts = append(parts, name)
		if s.AttributeType != "" {
			parts = append(parts, s.AttributeType)
		}
		parts = append(parts, s.AllowableValues...)
		for _, n := range []*int{s.LowerBound, s.UpperBound, s.MinLength, s.MaxLength} {
			number(n)
		}
		if s.ReadOnly != nil {
			parts = append(parts, strconv.FormatBool(*s.ReadOnly))
		}
	}
	slices.Sort(parts)
	sum := sha256.Sum256(fmt.Append(nil, parts))
	return fmt.Sprintf("schema-%x", sum)[:len("schema-")+schemaDigits]
}
