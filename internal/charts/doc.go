// Package charts tests the Helm chart and the Kustomize components of deploy, with Helm and Kustomize
// as libraries. It has tests only. What they render is in testdata, which the end-to-end tests apply
// to a real API server. It is a separate module, so that its imports are not in the program's module
// graph.
package charts
