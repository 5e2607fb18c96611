package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/podmanifest"
	"github.com/vitals-health/vitals/internal/probes"
	"github.com/vitals-health/vitals/internal/rbac"
	"github.com/vitals-health/vitals/internal/rulecheck"
)

// generateManifests declares the command generate manifests.
func (p *program) generateManifests(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("manifests", "Print the manifests that run Vitals in Kubernetes with a configuration: as a sidecar of a workload, whose probes then query it, on every node, or alone. They have the ConfigMap, the roles that the collectors and reports need, and probes that fit the rules.")
	p.configFlags(cmd)
	p.kubernetesFlags(cmd)
	var o podmanifest.Options
	var workload string
	cmd.Flag("as", "How Vitals runs: sidecar, daemonset or deployment.").Default(podmanifest.Forms()[0]).EnumVar((*string)(&o.Form), podmanifest.Forms()...)
	cmd.Flag("workload", "With --as=sidecar: the workload, as KIND/NAME, such as deployment/my-app. KIND is deployment, statefulset or daemonset.").PlaceHolder("KIND/NAME").StringVar(&workload)
	cmd.Flag("container", "With --as=sidecar: the container of the workload that Vitals judges. By default the name of the workload.").PlaceHolder("NAME").StringVar(&o.Container)
	cmd.Flag("name", "The name of the objects, among them a ClusterRole if a right holds in all namespaces.").Default("vitals").StringVar(&o.Name)
	cmd.Flag("namespace", "The namespace of the objects.").Default("default").StringVar(&o.Namespace)
	cmd.Flag("service-account", "The service account of the pods. By default that of --name; with --as=sidecar, the workload's own: default.").PlaceHolder("NAME").StringVar(&o.ServiceAccount)
	cmd.Flag("image", "The image of Vitals.").Default("vitals:latest").StringVar(&o.Image)
	cmd.Flag("port", "The port of the probes.").Default("8080").IntVar(&o.Port)
	cmd.Flag("web-secret", "A Secret with web.yml and its files: serve everything with its TLS and users on port 8443, and add a PodMonitor, which takes ca.crt, username and password from the Secret NAME-client. Without it, the metrics are on loopback.").PlaceHolder("NAME").StringVar(&o.WebSecret)
	cmd.Action(do(func() int { return p.printManifests(o, workload) }))
}

// printManifests is the command generate manifests.
func (p *program) printManifests(o podmanifest.Options, workload string) int {
	if p.profile != "" {
		return p.fail(fmt.Errorf("--profile=%s: expected --config.file=FILE: \"vitals profiles show %s --write=DIRECTORY\" writes a profile as files", p.profile, p.profile))
	}
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	err := errors.Join(setWorkload(&o, workload), setFiles(&o, p.configFile, l))
	if err != nil {
		return p.fail(rulecheck.Flatten([]error{err})...)
	}
	if o.Probes, err = probes.Of(rulecheck.ProbeFacts(l), probes.Options{Port: o.Port}); err != nil {
		return p.fail(err)
	}
	var kinds []collectors.Kind
	for _, c := range l.Config.Collectors {
		_, kind := c.Kind()
		kinds = append(kinds, kind)
	}
	o.Rights = append(rbac.Of(kinds), p.kubernetes.Rights(o.Namespace)...)
	p.setReports(&o)
	head := "# Made by vitals generate manifests, for kubectl apply --server-side.\n"
	missing, err := p.setInputs(&o, l)
	if err != nil {
		return p.fail(err)
	}
	for _, note := range append(podmanifest.Notes(o), missing...) {
		fmt.Fprintln(p.stderr, note)
		head += "# " + note + "\n"
	}
	fmt.Fprint(p.stdout, head, podmanifest.Objects(o))
	return exitOK
}

// setWorkload sets what a sidecar belongs to, and the account.
func setWorkload(o *podmanifest.Options, workload string) error {
	if taken := o.Port == podmanifest.LoopbackPort && o.WebSecret == "" || o.Port == podmanifest.WebPort && o.WebSecret != ""; taken {
		return fmt.Errorf("--port=%d: the metrics have this port: choose another one for the probes", o.Port)
	}
	if o.Form != podmanifest.Sidecar {
		o.ServiceAccount = cmp.Or(o.ServiceAccount, o.Name)
		if workload != "" || o.Container != "" {
			return fmt.Errorf("--workload and --container are for --as=sidecar, got --as=%s", o.Form)
		}
		return nil
	}
	kind, name, _ := strings.Cut(workload, "/")
	o.Kind = map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet"}[strings.ToLower(kind)]
	if o.Kind == "" || name == "" {
		return fmt.Errorf("--workload=%s: expected deployment/NAME, statefulset/NAME or daemonset/NAME, as --as=sidecar changes it", workload)
	}
	o.Workload, o.Container = name, cmp.Or(o.Container, name)
	o.ServiceAccount = cmp.Or(o.ServiceAccount, "default")
	return nil
}

// setFiles sets the configuration and its rule files. It returns an error for a file outside of
// the configuration's directory, and for one that contains a secret.
func setFiles(o *podmanifest.Options, path string, l *config.Loaded) error {
	data, err := config.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, secret := range l.Secrets {
		if secret != "" && strings.Contains(string(data), secret) {
			return fmt.Errorf("%s: contains a secret, which a ConfigMap would show: write it as ${VARIABLE} or ${file:/path}, which the manifest takes from a Secret", path)
		}
	}
	o.Files = []podmanifest.File{{Path: "vitals.yml", Text: string(data)}}
	var errs []error
	for _, f := range rulecheck.ByFile(l.Rules) {
		name := f[0].Name
		if strings.HasPrefix(name, config.BuiltinPrefix) {
			continue
		}
		relative, err := filepath.Rel(filepath.Dir(path), name)
		if err != nil || !filepath.IsLocal(relative) {
			errs = append(errs, fmt.Errorf("%s: is outside of the directory of %s, which is that of the ConfigMap: move it there", name, path))
			continue
		}
		o.Files = append(o.Files, podmanifest.File{Path: filepath.ToSlash(relative), Text: string(f[0].Text())})
	}
	return errors.Join(errs...)
}

// setInputs sets the files and variables that the manifest takes from Secrets. It returns a note for
// each file that is in no volume.
func (p *program) setInputs(o *podmanifest.Options, l *config.Loaded) (missing []string, err error) {
	for _, in := range l.Inputs() {
		inWeb := o.WebSecret != "" && strings.HasPrefix(in.Name, "/etc/vitals-web/")
		inRun := strings.HasPrefix(in.Name, "/run/vitals/") && !in.Content // an emptyDir
		switch {
		case p.secrets.Text(in.Name) != in.Name:
			return nil, fmt.Errorf("%s:%d: %s: the name contains a secret, which the manifest would show: expected one without", p.configFile, in.Line, in.Of)
		case manifest.Provided(in.Name, in.Variable), inWeb, inRun:
			o.Token = o.Token || strings.Contains(in.Name, "/kubernetes.io/serviceaccount/")
		case in.Variable:
			o.Variables = append(o.Variables, podmanifest.Variable{Name: in.Name, Optional: in.Optional})
		case in.Content:
			o.SecretFiles = append(o.SecretFiles, in.Name)
		default:
			o.OtherFiles = append(o.OtherFiles, in.Name)
			missing = append(missing, fmt.Sprintf("%s:%d: %s: %s is in no volume: mount it, from the host or from another container", p.configFile, in.Line, in.Of, in.Name))
		}
	}
	if f := p.kubernetes.Kubeconfig; f != "" {
		missing = append(missing, fmt.Sprintf("--kubernetes.kubeconfig: %s is in no volume: mount it", f))
	}
	return missing, nil
}

// setReports sets what the reports to Kubernetes need.
func (p *program) setReports(o *podmanifest.Options) {
	r := p.kubernetes
	for _, flag := range []struct{ name, value string }{
		{"kubernetes.readiness-gate", r.ReadinessGate}, {"kubernetes.node-condition", r.NodeCondition}, {"kubernetes.kubeconfig", r.Kubeconfig},
	} {
		if flag.value != "" {
			o.Flags = append(o.Flags, "--"+flag.name+"="+flag.value)
		}
	}
	if r.Events {
		o.Flags = append(o.Flags, "--kubernetes.events")
	}
	o.ReadinessGate = r.ReadinessGate
	o.Identity = r.Events || r.ReadinessGate != "" || r.NodeCondition != ""
}
