// Package clusters is what may be done with clusters: controllers and users make
// and change them, start, cancel and reset their installation, and remove them.
// The main type is [Registry].
package clusters
