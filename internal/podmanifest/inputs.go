package podmanifest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// configDir is the directory of the configuration in the container, and its working directory if
// the configuration has relative paths.
const configDir = "/etc/vitals"

// Variable is a variable of the configuration.
type Variable struct {
	Name string
	// Optional is set if Vitals starts without it.
	Optional bool
}

// volume is a volume with files of the Secret. They are indexes of Options.SecretFiles.
type volume struct {
	dir   string
	files []int
	// alone is set for a single file that is mounted with a subPath.
	alone bool
}

// shared matches directories in which the image, a host or Vitals may have other files. A mount
// would hide these.
var shared = regexp.MustCompile(`^/([^/]*|var/[^/]+|run/vitals(/.*)?|(bin|dev|lib|lib64|proc|sbin|sys|usr)/.*|etc/(ssl|pki|kubernetes|vitals-web)(/.*)?)$`)

// inPod returns the path of a file in the container.
func inPod(file string) string {
	if !path.IsAbs(file) {
		file = path.Join(configDir, file)
	}
	return path.Clean(file)
}

// below reports whether a path is below a directory.
func below(file, dir string) bool { return strings.HasPrefix(file, dir+"/") }

// secretVolumes returns the volumes of the files of the Secret, apart from those beside the
// configuration. A directory is mounted as a whole, so that Vitals reads a new password. A volume
// contains the directories below its own: a mount within a mount that is read-only fails.
func (o Options) secretVolumes() []volume {
	var all []volume
	for i, file := range o.SecretFiles {
		file = inPod(file)
		dir := path.Dir(file)
		v := volume{dir: dir, files: []int{i}}
		v.alone = shared.MatchString(dir) || slices.ContainsFunc(o.OtherFiles, func(f string) bool { return f == dir || below(f, dir) })
		if !below(file, configDir) {
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b volume) int { return strings.Compare(a.dir, b.dir) })
	var merged []volume
	for _, v := range all {
		i := slices.IndexFunc(merged, func(m volume) bool { return !m.alone && !v.alone && (m.dir == v.dir || below(v.dir, m.dir)) })
		if i < 0 {
			merged = append(merged, v)
			continue
		}
		merged[i].files = append(merged[i].files, v.files...)
	}
	return merged
}

// besideConfig returns the files of the Secret that are below the directory of the configuration.
func (o Options) besideConfig() []int {
	var all []int
	for i, file := range o.SecretFiles {
		if below(inPod(file), configDir) {
			all = append(all, i)
		}
	}
	return all
}

// secretKey returns the key of a file in the Secret.
func (o Options) secretKey(i int) string { return key(i, strings.Trim(o.SecretFiles[i], "/.")) }

// secretItems returns files of the Secret as the items of a volume for a directory.
func (o Options) secretItems(dir string, files []int) string {
	var b strings.Builder
	for _, i := range files {
		fmt.Fprintf(&b, "- {key: %s, path: %s}\n", o.secretKey(i), quoted(strings.TrimLeft(strings.TrimPrefix(inPod(o.SecretFiles[i]), dir), "/")))
	}
	return b.String()
}

// downward are the variables that the pod has of itself, and their fields.
func downward() [][2]string {
	return [][2]string{
		{"POD_NAME", "metadata.name"}, {"POD_NAMESPACE", "metadata.namespace"}, {"POD_UID", "metadata.uid"}, {"NODE_NAME", "spec.nodeName"},
		{"POD_IP", "status.podIP"}, {"HOST_IP", "status.hostIP"},
	}
}

// env returns the variables of the container.
func (o Options) env() string {
	var b strings.Builder
	for i, v := range downward() {
		if o.Identity && i < 4 || slices.ContainsFunc(o.Variables, func(own Variable) bool { return own.Name == v[0] }) {
			fmt.Fprintf(&b, "  - {name: %s, valueFrom: {fieldRef: {fieldPath: %s}}}\n", v[0], v[1])
		}
	}
	for _, v := range o.secretVariables() {
		optional := ""
		if v.Optional {
			optional = ", optional: true"
		}
		fmt.Fprintf(&b, "  - {name: %s, valueFrom: {secretKeyRef: {name: %s, key: %s%s}}}\n", quoted(v.Name), quoted(o.Name+"-env"), quoted(v.Name), optional)
	}
	if b.Len() == 0 {
		return ""
	}
	return "env:\n" + b.String()
}

// secretVariables returns the variables that the pod does not have of itself.
func (o Options) secretVariables() []Variable {
	own := func(v Variable) bool {
		return slices.ContainsFunc(downward(), func(d [2]string) bool { return d[0] == v.Name })
	}
	return slices.DeleteFunc(slices.Clone(o.Variables), own)
}

// plainWord matches a word that a shell reads as it is.
var plainWord = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// Notes returns what a user has to do for the manifests of Objects: the Secrets to create, and the
// files for which a change needs a restart.
func Notes(o Options) []string {
	var notes []string
	create := func(name string) string {
		return fmt.Sprintf("kubectl create secret generic %s --namespace=%s", name, o.Namespace)
	}
	if len(o.SecretFiles) > 0 {
		command := "create the Secret of the files first: " + create(o.Name+"-files")
		for i, file := range o.SecretFiles {
			arg := "--from-file=" + o.secretKey(i) + "=" + file
			if !plainWord.MatchString(arg) {
				arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
			}
			command += " " + arg
		}
		notes = append(notes, command)
	}
	var names []string
	for _, v := range o.secretVariables() {
		if v.Optional {
			v.Name += " (optional)"
		}
		names = append(names, v.Name)
	}
	if len(names) > 0 {
		notes = append(notes, fmt.Sprintf("create the Secret of the variables first: %s --from-env-file=vitals.env; vitals.env has a line NAME=VALUE for each of %s",
			create(o.Name+"-env"), strings.Join(names, ", ")))
	}
	for _, v := range o.secretVolumes() {
		if v.alone {
			notes = append(notes, fmt.Sprintf("a new %s needs a restart of the pod: its directory may have other files, so the file is mounted alone", inPod(o.SecretFiles[v.files[0]])))
		}
	}
	return notes
}
