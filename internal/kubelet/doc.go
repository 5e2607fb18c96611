// Package kubelet probes Vitals with the kubelet's own code: its probes over HTTP, gRPC and
// TCP, and of commands. It has tests only. It is a separate module, so that the imports of
// Kubernetes are not in the program's module graph.
package kubelet
