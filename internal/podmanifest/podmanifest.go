// Package podmanifest generates the manifests that run Vitals in Kubernetes: as a sidecar of
// a workload, on every node, or alone.
package podmanifest

import (
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/internal/probes"
	"github.com/vitals-health/vitals/internal/rbac"
)

// Form is how Vitals runs.
type Form string

// The forms.
const (
	// Sidecar is a native sidecar of an existing workload, whose probes query it.
	Sidecar    Form = "sidecar"
	DaemonSet  Form = "daemonset"
	Deployment Form = "deployment"
)

// Forms returns all forms, the default first.
func Forms() []string { return []string{string(Sidecar), string(DaemonSet), string(Deployment)} }

// The container of Vitals and its volumes.
const (
	container = "vitals"
	// user is that of the image: see deploy/Dockerfile.
	user = 65532
)

const (
	// LoopbackPort serves everything in the pod.
	LoopbackPort = 8081
	// WebPort serves everything to the network, with TLS.
	WebPort = 8443
)

// Options are the choices of a user.
type Options struct {
	Form Form
	// Name is that of all objects, and of the label of the pods.
	Name, Namespace string
	// ServiceAccount is that of the pods. For a sidecar, it is the workload's.
	ServiceAccount string
	Image          string
	// Kind, Workload and Container are those that a sidecar belongs to. Kind is Deployment,
	// StatefulSet or DaemonSet.
	Kind, Workload, Container string
	// Port is the port of the probes.
	Port int
	// WebSecret is the Secret with web.yml, which protects the port of the metrics. What
	// Prometheus needs is in another one, with "-client" at the end. Without a WebSecret, the
	// metrics are on loopback, and there is no PodMonitor.
	WebSecret string
	// Flags are further flags of vitals run.
	Flags []string
	// ReadinessGate is the type of a condition of the pod; empty for none.
	ReadinessGate string
	// Identity is set if the pod needs the variables of the downward API.
	Identity bool
	// Rights are what the account needs.
	Rights []kubernetes.Right
	Files  []File
	// Token is set if the configuration reads the token of the service account.
	Token bool
	// SecretFiles are the files of the configuration that a Secret has, "-files" at the end of its
	// name. Vitals finds them at these paths. A relative one begins at the configuration.
	SecretFiles []string
	// OtherFiles are files that a mount must not hide.
	OtherFiles []string
	// Variables are from the pod itself, or from a Secret with "-env" at the end of its name.
	Variables []Variable
	Probes    probes.Set
}

// File is a file of the configuration.
type File struct {
	// Path is relative to the directory of the configuration, with slashes.
	Path string
	Text string
}

// Objects returns the manifests: one document for each object. That of a sidecar's workload
// is a patch, for server-side apply and Kustomize.
func Objects(o Options) string {
	documents := []string{o.configMap()}
	if o.Form != Sidecar {
		documents = append(documents, o.head("v1", "ServiceAccount", o.ServiceAccount, ""))
	}
	if roles := rbac.Objects(o.Rights, rbac.Account{Name: o.Name, Namespace: o.Namespace, ServiceAccount: o.ServiceAccount}); roles != "" {
		documents = append(documents, roles)
	}
	if o.Form == Sidecar {
		documents = append(documents, o.patch())
	} else {
		documents = append(documents, o.workload())
	}
	if o.WebSecret != "" {
		documents = append(documents, o.podMonitor())
	}
	return strings.Join(documents, "---\n")
}

// head returns the beginning of an object, with labels after a space if there are any.
func (o Options) head(api, kind, name, labels string) string {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %s\n", api, kind, quoted(name), quoted(o.Namespace))
	if labels != "" {
		text += "  labels: " + labels + "\n"
	}
	return text
}

// labels returns the labels of the pods.
func (o Options) labels() string { return "{app.kubernetes.io/name: " + quoted(o.Name) + "}" }

// configMap returns the ConfigMap with all files.
func (o Options) configMap() string {
	var b strings.Builder
	b.WriteString(o.head("v1", "ConfigMap", o.Name, "") + "data:\n")
	for i, f := range o.Files {
		fmt.Fprintf(&b, "  %s: %s", key(i, f.Path), block(f.Text, "    "))
	}
	return b.String()
}

// key returns the key of a file in the ConfigMap. Keys have no slashes and are unique.
func key(i int, path string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, path)
	return fmt.Sprintf("%d-%s", i, name)
}

// patch returns the part of the workload that a sidecar changes.
func (o Options) patch() string {
	return o.head("apps/v1", o.Kind, o.Workload, "") + "spec:\n  template:\n" + indented("    ", "spec:\n"+indented("  ", o.gates()+
		"initContainers:\n"+item(o.vitals(true))+
		"containers:\n"+item("name: "+quoted(o.Container)+"\n"+o.Probes.Workload())+
		"volumes:\n"+o.volumes()))
}

// workload returns the DaemonSet or Deployment.
func (o Options) workload() string {
	kind := map[Form]string{DaemonSet: "DaemonSet", Deployment: "Deployment"}[o.Form]
	account := "serviceAccountName: " + quoted(o.ServiceAccount) + "\n"
	if len(o.Rights) == 0 && !o.Token {
		account += "automountServiceAccountToken: false\n"
	}
	return o.head("apps/v1", kind, o.Name, o.labels()) + "spec:\n  selector:\n    matchLabels: " + o.labels() + "\n  template:\n" + indented("    ",
		"metadata:\n  labels: "+o.labels()+"\nspec:\n"+indented("  ", account+o.gates()+
			"containers:\n"+item(o.vitals(false))+
			"volumes:\n"+o.volumes()))
}

func (o Options) gates() string {
	if o.ReadinessGate == "" {
		return ""
	}
	return "readinessGates: [{conditionType: " + quoted(o.ReadinessGate) + "}]\n"
}

// volumes returns the volumes of Vitals.
func (o Options) volumes() string {
	var b strings.Builder
	configMap := fmt.Sprintf("configMap:\n  name: %s\n  items:\n", quoted(o.Name))
	for i, f := range o.Files {
		configMap += fmt.Sprintf("    - {key: %s, path: %s}\n", key(i, f.Path), quoted(f.Path))
	}
	secret := func(dir string, files []int, name string) string {
		return fmt.Sprintf("secret:\n  %s: %s\n  items:\n%s", name, quoted(o.Name+"-files"), indented("    ", o.secretItems(dir, files)))
	}
	if beside := o.besideConfig(); len(beside) > 0 {
		configMap = "projected:\n  sources:\n" + indented("  ", item(configMap)+item(secret(configDir, beside, "name")))
	}
	b.WriteString(item("name: vitals-config\n" + configMap))
	b.WriteString("  - {name: vitals-run, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n")
	if o.WebSecret != "" {
		fmt.Fprintf(&b, "  - {name: vitals-web, secret: {secretName: %s}}\n", quoted(o.WebSecret))
	}
	for i, v := range o.secretVolumes() {
		b.WriteString(item(fmt.Sprintf("name: vitals-files-%d\n", i) + secret(v.dir, v.files, "secretName")))
	}
	return b.String()
}

// podMonitor returns the object with which the Prometheus Operator finds the metrics. The
// job is that of the alerts about Vitals.
func (o Options) podMonitor() string {
	selector := "{matchLabels: " + o.labels() + "}"
	if o.Form == Sidecar {
		selector = "{}" // the labels of the workload are unknown
	}
	secret := quoted(o.WebSecret + "-client")
	return o.head("monitoring.coreos.com/v1", "PodMonitor", o.Name, "") + "spec:\n  selector: " + selector + `
  podMetricsEndpoints:
    - port: web
      path: /metrics
      interval: 15s
      scrapeTimeout: 5s
      scheme: https
      tlsConfig:
        serverName: vitals
        ca: {secret: {name: ` + secret + `, key: ca.crt}}
      basicAuth:
        username: {name: ` + secret + `, key: username}
        password: {name: ` + secret + `, key: password}
      relabelings:
        - {action: keep, sourceLabels: [__meta_kubernetes_pod_container_name], regex: vitals}
        - {action: replace, targetLabel: job, replacement: vitals}
`
}
