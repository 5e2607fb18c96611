// Package profiles holds the configurations and rule files that ship inside the program:
// kuryr-controller, kuryr-cni, sonic and tripleo.
package profiles
