// Package flow holds tests that let several programs of Ironflow work together
// for real: here the host agent, as a process, and a hub with its REST API and
// store. No part is a double; only the machine is pretended, by a scenario.
package flow
