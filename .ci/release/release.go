package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// imageName and sumsName are names of files of a release.
const (
	imageName = "vitals-image.tar"
	sumsName  = "SHA256SUMS"
)

// makeRelease makes everything, in a directory that is empty or does not exist: archives for all
// platforms; packages and the image for those with Linux.
func (s source) makeRelease(platforms []platform, dir string) error {
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
		return fmt.Errorf("%s is not empty: %s is there; remove the directory, or choose another with -out", dir, there[0].Name())
	}
	var all []contents
	for _, p := range platforms {
		c, err := s.contents(p)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	program, err := s.native(all, dir)
	if err != nil {
		return err
	}
	defer os.Remove(program)
	var images []contents
	for _, c := range all {
		if err := s.makePlatform(c, program, dir); err != nil {
			return err
		}
		if c.platform.os == "linux" {
			images = append(images, c)
		}
	}
	if len(images) > 0 {
		var b bytes.Buffer
		if err := s.writeImage(&b, images); err != nil {
			return err
		}
		if err := write(filepath.Join(dir, imageName), b.Bytes()); err != nil {
			return err
		}
	}
	if err := os.Remove(program); err != nil {
		return err
	}
	return sums(dir)
}

// native writes the program for this machine, which prints the manual page and the completions: that
// of the contents, or one that it builds.
func (s source) native(all []contents, dir string) (string, error) {
	own, name := platform{runtime.GOOS, runtime.GOARCH}, "vitals"
	var data []byte
	for _, c := range all {
		if i := slices.IndexFunc(c.programs, func(f file) bool { return f.path == name }); c.platform == own && i >= 0 {
			data = c.programs[i].data
		}
	}
	if data == nil {
		var err error
		if data, err = s.build(own, name); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, ".vitals")
	return path, os.WriteFile(path, data, executable)
}

// makePlatform makes the archive, the list of contents, the packages and the image of one platform.
func (s source) makePlatform(c contents, program, dir string) error {
	e, err := s.extras(c.platform, program)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("vitals-%s.%s-%s", s.version, c.platform.os, c.platform.arch)
	archive, err := s.archive(name, c, e)
	if err != nil {
		return err
	}
	list, err := s.sbom(c.platform, c.programs)
	if err != nil {
		return err
	}
	if err := errors.Join(write(filepath.Join(dir, name+".tar.gz"), archive), write(filepath.Join(dir, name+".cdx.json"), list)); err != nil {
		return err
	}
	if c.platform.os != "linux" {
		return nil
	}
	for _, format := range formats() {
		files, err := packageFiles(format, c.programs, e)
		if err != nil {
			return err
		}
		if _, err := s.packaged(format, c.platform, files, dir); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := s.writeImage(&b, []contents{c}); err != nil {
		return err
	}
	return write(filepath.Join(dir, name+".image.tar"), b.Bytes())
}

// archive holds the programs, and what an operator may want beside them, below one directory.
func (s source) archive(name string, c contents, e extras) ([]byte, error) {
	all := slices.Concat(c.programs, e.licences, []file{
		{"vitals.1", readable, e.man},
		{"completion/vitals.bash", readable, e.bash}, {"completion/_vitals", readable, e.zsh}, {"completion/vitals.fish", readable, e.fish},
		{"example/vitals.yml", readable, e.configuration}, {"example/rules.yml", readable, e.rules},
	})
	if c.platform.os == "linux" {
		all = append(all, file{"systemd/vitals.service", readable, e.service}, file{"systemd/vitals.socket", readable, e.socket}, file{"systemd/user/vitals.service", readable, e.user})
	}
	for i := range all {
		all[i].path = name + "/" + all[i].path
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(z, all, s.at); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// sums writes the checksums of all files of a directory, as sha256sum --check reads them.
func sums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), entry.Name())
	}
	return write(filepath.Join(dir, sumsName), b.Bytes())
}
