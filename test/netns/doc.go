// Package netns builds small networks out of network namespaces, for tests that
// need real packets between real hosts. A [Topology] says in plain values which
// hosts there are and what they are plugged into; [Topology.Build] makes it, and
// the end of the test removes it. Nothing of it is seen outside: the namespaces
// have no names and live as long as the test holds them.
//
// Code that opens its sockets itself runs inside a host by [Host.Do]. Code with
// goroutines of its own, such as a step of the agent, runs in a process of its
// own: [Host.Run] starts the test binary again inside the host, and [Main], which
// the package's TestMain calls, leads it to the named [Program].
//
// Building needs root.
package netns
