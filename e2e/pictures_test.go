//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tallest bounds the height of a picture of a whole page, in pixels.
const tallest = 4000

// picture keeps a picture of what is in view.
func (p *tab) picture(t *testing.T, name string) {
	t.Helper()
	p.capture(t, name, object{"format": "png"})
}

// wholePicture keeps a picture of the page as if the screen were as high.
func (p *tab) wholePicture(t *testing.T, name string) {
	t.Helper()
	var page struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	p.call(t, "Page.getLayoutMetrics", nil, &page)
	p.capture(t, name, object{"format": "png", "captureBeyondViewport": true, "clip": object{
		"x": 0, "y": 0, "width": page.CSSContentSize.Width, "height": min(page.CSSContentSize.Height, tallest), "scale": 1,
	}})
}

func (p *tab) capture(t *testing.T, name string, how object) {
	t.Helper()
	var answer struct{ Data string }
	p.call(t, "Page.captureScreenshot", how, &answer)
	image, err := base64.StdEncoding.DecodeString(answer.Data)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := picturesDirectory()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = replaceFile(filepath.Join(dir, testOf(t)+"."+name+".png"), image)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testOf is the name of the test without those of its parts.
func testOf(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return strings.TrimPrefix(name, "TestPage")
}

// picturesDirectory is where the pictures are: in the directory of the stacks, from where the
// script run moves them, or where that script leaves them.
func picturesDirectory() (string, error) {
	if state := os.Getenv(stateVariable); state != "" {
		return filepath.Join(state, "screenshots"), nil
	}
	cache, err := cacheDirectory()
	return filepath.Join(cache, "screenshots"), err
}

// shot is one picture in the index.
type shot struct {
	Test, Name, File string
	Width, Height    int
}

// replaceFile writes a file whole: other lanes of the script run read it at the same time.
func replaceFile(path string, data []byte) error {
	unfinished := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(unfinished, data, 0o644); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

// indexPictures writes a page that shows all pictures, unless there are none.
func indexPictures() error {
	dir, err := picturesDirectory()
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.png")) // sorted
	if err != nil || len(found) == 0 {
		return err
	}
	var all []shot
	for _, path := range found {
		s, err := readShot(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run has moved it
		}
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	page, err := template.ParseFiles("testdata/pictures.html")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := page.Execute(&out, all); err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, "index.html"), out.Bytes())
}

func readShot(path string) (shot, error) {
	f, err := os.Open(path)
	if err != nil {
		return shot{}, err
	}
	defer f.Close()
	size, err := png.DecodeConfig(f)
	test, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".png"), ".")
	return shot{Test: test, Name: name, File: filepath.Base(path), Width: size.Width, Height: size.Height}, err
}
