// Package upgrade proves that what one release has left can be worked on by the next.
// testdata has a folder for each release that is supported, and in it what that release
// promised and left behind: names that others write down (texts, one promise a line, see
// package promise), its CustomResourceDefinitions, its chart (which config/chart
// installs and upgrades), a hub with clusters and hosts in many
// states, and hosts in every phase with their nodes in Ironic.
//
// The tests hold the present tree to all of them, with the program itself as a process of
// its own. With -update they record the release in the newest folder; a promise that was
// made there once is never taken back.
package upgrade
