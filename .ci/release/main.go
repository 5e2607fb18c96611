// Command release makes what a release consists of, from the tree and without a Docker engine. The
// same tree makes the same bytes, wherever and whenever that is.
//
//	go run -C .ci/release . image -platforms=linux/amd64 -out=dist/vitals-image.tar
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run parses the arguments and makes what they name.
func run(args []string) error {
	if len(args) == 0 {
		return errors.New("expected a command: image")
	}
	command, flags := args[0], flag.NewFlagSet(args[0], flag.ContinueOnError)
	root := flags.String("source", "../..", "the root `directory` of the source")
	out := flags.String("out", "dist/vitals-image.tar", "the `path` to write to, relative to the source")
	list := flags.String("platforms", "linux/amd64,linux/arm64", "the `platforms`")
	version := flags.String("version", "", "the version; by default, that of git describe")
	revision := flags.String("revision", "", "the commit; by default, that of git")
	tag := flags.String("tag", "", "the `tag` of the image; by default, the version")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	platforms, err := parsePlatforms(*list)
	if err != nil {
		return err
	}
	s, err := newSource(*root, *version, *revision)
	if err != nil {
		return err
	}
	s.tag = *tag
	to := *out
	if !filepath.IsAbs(to) {
		to = filepath.Join(s.root, to)
	}
	switch command {
	case "image":
		return s.makeImage(platforms, to)
	default:
		return fmt.Errorf("%q is not a command; expected image", command)
	}
}

// makeImage builds the image of the platforms and writes it to a file.
func (s source) makeImage(platforms []platform, to string) error {
	var all []contents
	for _, p := range platforms {
		c, err := s.contents(p)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	var b bytes.Buffer
	if err := s.writeImage(&b, all); err != nil {
		return err
	}
	return write(to, b.Bytes())
}

// write writes a file, and prints its name.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", path, len(data))
	return os.WriteFile(path, data, readable)
}
