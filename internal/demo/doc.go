// Package demo is the workload of the command demo and the configuration that points the
// controller's profile at fake services.
package demo
