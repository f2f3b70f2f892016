// Package nodespec says what a host's Ironic node shall look like: its fields, ports,
// live image, instance and credentials. All of it is pure: functions from the host, its
// settings and what was read of its Secrets to Ironic's form of them, in the words of
// Ironic's API (driver_info, instance_info, properties).
//
// It does not say when a node is changed, nor by which request: that is the package
// policy's. Its main type is [Input], its main function [Desired].
package nodespec
