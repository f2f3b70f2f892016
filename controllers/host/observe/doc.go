// Package observe gathers what a pass decides on: the host's Secrets and objects, its
// node as the watch last saw it, what others know of the machine. All of it comes from
// caches and memory; the node itself is looked at only when a decision asks for it.
// The main type is [Observer].
package observe
