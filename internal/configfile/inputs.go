package configfile

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Input is a file or a variable that a configuration uses, and that does not come with it.
type Input struct {
	// Name is the path of the file, or the name of the variable.
	Name     string
	Variable bool
	// Optional is set for a variable that may be missing.
	Optional bool
	// Content is set for a file that configures a collector, such as one with a password: a copy
	// serves as well. Other files belong to a host or to a program, such as a socket.
	Content bool
	// Of names the value that contains it: a key and its collector, or a reference.
	Of string
	// Line and Col count from 1.
	Line, Col int
}

var (
	// hostFile matches the keys of files that belong to a host or to a program, as KIND.KEY
	// without indexes.
	hostFile = regexp.MustCompile(`^certificate\.(files|key_file)$|^components\.(notify_directory|shared_booleans\.path)$|^disk\.paths$|` +
		`^(file|textfile)\.path$|^netlink\.netns$|^script\.(command|directory)$|^supervisor\.(critical_file|socket)$|^systemd\.bus$|` +
		`\.(cgroupfs|discovery\.files|kubeconfig|pid_file|procfs|unix_socket|url_from\.(ini|vhost))$`)
	// contentFile matches the keys of other files.
	contentFile = regexp.MustCompile(`_file$|_files([.\[]|$)`)
	// index matches an index in a path.
	index = regexp.MustCompile(`\[\d+\]`)
)

// Inputs returns the files and variables that a valid configuration uses, each once, in the order
// of the file. Rule files are not included.
func (l *Loaded[E]) Inputs() []Input {
	var all []Input
	add := func(in Input) {
		same := func(o Input) bool { return o.Name == in.Name && o.Variable == in.Variable }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Content, all[i].Optional = all[i].Content || in.Content, all[i].Optional && in.Optional
			return
		}
		all = append(all, in)
	}
	for _, e := range l.references {
		in := Input{Name: strings.TrimSuffix(strings.TrimPrefix(e, "${"), "}"), Variable: true, Of: e}
		if path, ok := strings.CutPrefix(in.Name, "file:"); ok {
			in.Name, in.Variable, in.Content = path, false, true
		}
		in.Line, in.Col = l.lineOf(e)
		add(in)
	}
	f := secretFinder{secretKey: l.kinds.secretKey}
	f.walk(reflect.ValueOf(&l.Config), "", "", false)
	for _, v := range f.texts {
		if in, ok := l.inputAt(v.path, v.text); ok {
			add(in)
		}
	}
	slices.SortStableFunc(all, func(x, y Input) int { return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col)) })
	return all
}

// inputAt returns the input that the value at a path names; ok is false for a value that names no input.
func (l *Loaded[E]) inputAt(path, text string) (in Input, ok bool) {
	m := kindValue.FindStringSubmatch(path)
	if m == nil {
		return in, false
	}
	var i int
	_, _ = fmt.Sscanf(path, "collectors[%d]", &i) // as m matches
	name, _, _ := l.Config.Collectors[i].Common()
	in = Input{Name: text, Of: fmt.Sprintf("%s of the collector %s", m[2], name)}
	in.Line, in.Col = l.Document.Position(path)
	key := index.ReplaceAllString(m[1]+"."+m[2], "")
	switch {
	case strings.HasPrefix(text, "unix:/"):
		in.Name = strings.TrimPrefix(text, "unix:")
		return in, true
	case key == "script.inherit":
		in.Variable, in.Optional = true, true
		return in, true
	case hostFile.MatchString(key):
		return in, filepath.IsAbs(text)
	case contentFile.MatchString(key):
		in.Content = true
		return in, true
	case strings.HasSuffix(key, ".cloud") && !l.Document.Has(path+"s_file"):
		in.Name = "/etc/openstack/clouds.yaml"
		return in, true
	}
	return in, false
}

// lineOf returns the position of a reference in the file, outside of comments that have their own
// lines.
func (l *Loaded[E]) lineOf(reference string) (line, col int) {
	for i, text := range bytes.Split(l.Document.Data(), []byte("\n")) {
		at := bytes.Index(text, []byte(reference))
		if at >= 0 && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("#")) {
			return i + 1, len([]rune(string(text[:at]))) + 1
		}
	}
	return 1, 1
}
