// Package configured makes what the hub works with of the program's configuration: its options, its
// stores, and what tells it releases. It refuses what cannot work, with the flag and what to set.
package configured
