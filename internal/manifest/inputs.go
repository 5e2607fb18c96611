package manifest

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Need is a file or a variable that a configuration uses.
type Need struct {
	// Name is the path of the file, or the name of the variable.
	Name     string
	Variable bool
	// Where is the place of the value that names it, and what that value is.
	Where string
}

// Mount is a volume in a container.
type Mount struct {
	Path string
	// Listed is set if the files of the volume are known. Files are then their paths below Path,
	// and "" if Path itself is a file.
	Listed bool
	Files  []string
}

// provided match the files and the variables that a container of Vitals has without a volume and
// an entry: what Kubernetes and the image (deploy/Dockerfile) provide.
var (
	providedFile     = regexp.MustCompile(`^/$|^/(proc|sys|dev|(var/)?run/secrets/kubernetes\.io)(/|$)|^/etc/ssl/certs/ca-certificates\.crt$|^/etc/(hosts|hostname|resolv\.conf)$`)
	providedVariable = regexp.MustCompile(`^(HOME|HOSTNAME|PATH)$|_SERVICE_(HOST|PORT)$`)
)

// Provided reports whether every container of Vitals has a file or a variable.
func Provided(name string, variable bool) bool {
	if variable {
		return providedVariable.MatchString(name)
	}
	return providedFile.MatchString(path.Clean(name))
}

// MountOf returns the mount that contains a file, with the path of the file below it, or nil. A
// path that is not absolute is relative to the working directory.
func (c *Container) MountOf(file string) (deepest *Mount, below string) {
	if !path.IsAbs(file) {
		file = path.Join(c.WorkingDir, file)
	}
	file = path.Clean(file)
	for i := range c.Mounts {
		m := &c.Mounts[i]
		rest, ok := strings.CutPrefix(file, strings.TrimSuffix(m.Path, "/"))
		if ok && (rest == "" || rest[0] == '/') && (deepest == nil || len(m.Path) > len(deepest.Path)) {
			deepest, below = m, strings.TrimPrefix(rest, "/")
		}
	}
	return deepest, below
}

// Has reports whether the container has what a configuration needs. It is true where the manifest
// does not decide.
func (c *Container) Has(n Need) bool {
	switch {
	case Provided(n.Name, n.Variable):
		return true
	case n.Variable:
		return c.AnyVariable || slices.Contains(c.Variables, n.Name)
	case !path.IsAbs(n.Name) && c.WorkingDir == "":
		return true
	}
	m, below := c.MountOf(n.Name)
	return m != nil && (!m.Listed || slices.Contains(m.Files, below))
}

// variables reads the names of the environment.
func (r *reader) variables(c *Container, n *yaml.Node) {
	for _, e := range elements(get(n, "env")) {
		c.Variables = append(c.Variables, text(get(e, "name")))
	}
	for _, from := range elements(get(n, "envFrom")) {
		keys, known := r.keys("ConfigMap", get(from, "configMapRef", "name"))
		if secret := get(from, "secretRef", "name"); secret != nil {
			keys, known = r.keys("Secret", secret)
		}
		c.AnyVariable = c.AnyVariable || !known
		for _, key := range keys {
			c.Variables = append(c.Variables, text(get(from, "prefix"))+key)
		}
	}
}

// mounts reads the mounts of a container in a pod.
func (r *reader) mounts(n, pod *yaml.Node) []Mount {
	var all []Mount
	for _, at := range elements(get(n, "volumeMounts")) {
		m := Mount{Path: path.Clean(text(get(at, "mountPath")))}
		for _, v := range elements(get(pod, "volumes")) {
			if text(get(v, "name")) == text(get(at, "name")) {
				m.Files, m.Listed = r.volume(v)
			}
		}
		if sub := path.Clean(text(get(at, "subPath"))); sub != "." {
			within := m.Files
			m.Files = nil
			for _, f := range within {
				if rest, ok := strings.CutPrefix(f, sub); ok && (rest == "" || rest[0] == '/') {
					m.Files = append(m.Files, strings.TrimPrefix(rest, "/"))
				}
			}
		}
		m.Listed = m.Listed && get(at, "subPathExpr") == nil
		all = append(all, m)
	}
	return all
}

// volume returns the files of a volume, or of a source of a projected one. known is unset for a
// volume whose files the manifest does not list.
func (r *reader) volume(n *yaml.Node) (files []string, known bool) {
	if sources := get(n, "projected", "sources"); sources != nil {
		for _, source := range elements(sources) {
			own, ok := r.volume(source)
			if !ok {
				return nil, false
			}
			files = append(files, own...)
		}
		return files, true
	}
	for _, kind := range [][]string{{"ConfigMap", "configMap", "name"}, {"Secret", "secret", "secretName"}, {"Secret", "secret", "name"}} {
		from, name := get(n, kind[1]), get(n, kind[1:]...)
		if items := get(from, "items"); items != nil {
			for _, item := range elements(items) {
				files = append(files, path.Clean(text(get(item, "path"))))
			}
			return files, true
		}
		if name != nil {
			return r.keys(kind[0], name)
		}
	}
	return nil, false
}

// keys returns the keys of a ConfigMap or Secret in the file. known is unset for an object that the
// file does not have.
func (r *reader) keys(kind string, name *yaml.Node) (keys []string, known bool) {
	keys, known = r.objects[kind+"/"+text(name)]
	return keys, known
}

// index collects the keys of the ConfigMaps and Secrets of an object, or of the items of a list.
func (r *reader) index(n *yaml.Node) {
	for _, item := range elements(get(n, "items")) {
		r.index(item)
	}
	name := text(get(n, "kind")) + "/" + text(get(n, "metadata", "name"))
	for _, part := range []string{"data", "stringData", "binaryData"} {
		for _, e := range entries(get(n, part)) {
			r.objects[name] = append(r.objects[name], e.key.Value)
		}
	}
}
