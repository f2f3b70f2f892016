// Package samples drives the samples of config/samples to their end: the program as it is
// shipped, on a real kube-apiserver with definitions and admission rules, and a real Ironic.
// Only addresses and accounts are replaced; the machines are those of test/machine/ironictest,
// with simulated BMCs, and run an agent of the real protocol.
package samples
