// Package monitor watches for what happens because nothing happened: silent
// agents, limits that have passed. The main type is [Monitor].
package monitor
