// Package steps holds the tests of the deploy steps against a real systemd: the
// compiled ironflow-step on this side of a container's border, the real
// ironflow-agent in the unit that imagecustomization renders on the other, and
// a small hub for it to talk to. They need root; see package systemdtest.
package steps
