package testhub

import (
	"bytes"
	"testing"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/test/hub/rolefiles"
)

// Keys are keys to seal with that are the same in all hubs of a test.
func Keys() seal.Keys {
	keys, err := seal.New(bytes.Repeat([]byte("k"), 32))
	if err != nil {
		panic(err) //nolint:forbidigo // the secret is a constant of the right length
	}
	return keys
}

// RoleFiles is a folder of Ignition for clusters with a release.
func RoleFiles(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	must(t, rolefiles.Write(dir))
	return dir
}
