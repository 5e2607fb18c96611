package main

import (
	"archive/tar"
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive, a package or an image.
type file struct {
	// path is relative to the root, without a leading slash. With one at its end, it is an empty directory.
	path string
	mode int64
	data []byte
}

// The modes of files.
const (
	readable   = 0o644
	executable = 0o755
	// temporary is the mode of a directory in which any user writes, and none removes the files of others.
	temporary = 0o1777
)

// writeTar writes the files, and the directories above them, as root's and with one time. The same
// files make the same bytes.
func writeTar(w io.Writer, files []file, at time.Time) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.path, b.path) })
	archive := tar.NewWriter(w)
	made := map[string]bool{".": true}
	for _, f := range files {
		for _, dir := range above(f.path) {
			if made[dir] {
				continue
			}
			made[dir] = true
			mode := int64(executable)
			if f.path == dir+"/" {
				mode = f.mode
			}
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: mode, ModTime: at, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
		}
		if strings.HasSuffix(f.path, "/") {
			continue
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// tarOf is writeTar to memory.
func tarOf(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	err := writeTar(&b, files, at)
	return b.Bytes(), err
}

// above returns the directories above a path, the highest first.
func above(name string) []string {
	var dirs []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}
