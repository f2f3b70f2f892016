// Package verify compares what was asked for with what is there afterwards: BIOS
// settings, volumes and firmware versions, as Ironic reports them and as the BMC does.
// [Compare] returns a [Drift] for each that differs, and says who shows it.
//
// It is pure, and it forgives spelling: "Enable" is "Enabled", a display name is its
// value, 3 is "3", "iLO 6 v1.57" is 1.57. What one of them does not show is no drift.
package verify
