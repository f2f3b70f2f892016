// Package release makes a release as `make release` does, and holds what is in its folder against what docs/install.md says: checksums of all,
// a bill of materials for each archive and image, signatures that who has the public key can verify, by cosign or by openssl, and that
// who changed a file has broken. The key is made for the test.
package release
