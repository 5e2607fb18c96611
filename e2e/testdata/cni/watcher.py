"""The part of the CNI daemon that watches the Kubernetes API."""
import component

component.serve()
